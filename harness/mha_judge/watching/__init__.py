"""Grading at every save: what changed on disk, which keys were pressed, what is shown."""
