"""`mha-judge practice`, a window in the terminal: what to do, what is graded, what helps.

`session` knows what can be done and nothing of the screen, `grading` has answers graded in the
background, `editor` opens files; `main_screen` is made of `contents` and `pages`, and what
`dialogs` ask or tell lies above it; `drawing` says how reports and states look, in the `words` of a
language.
"""
