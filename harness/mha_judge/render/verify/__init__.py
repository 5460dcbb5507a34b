"""A certification as people and machines read it."""
