"""`mha-judge practice --web`: the app's session, shown in a browser.

`desk` is what one can do and is told, `app` the page and its socket, `messages` what a page sends;
what a `Session` knows is not written again here.
"""
