"""What other platforms take: folders that hand an answer to this judge, and get back its verdict.

Each platform is one module. It writes what is uploaded, and says a verdict in the platform's words;
`run --as` does the latter there. Where there is no verdict the platform is told so: it is never 0.
"""

FORMATS = ("harbor", "gradescope", "prairielearn", "classroom50", "github-action")
