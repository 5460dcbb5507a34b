"""A scoreboard as people and machines read it."""
