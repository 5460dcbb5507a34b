"""Calls of one's own: an answer beside what is expected, and the smallest call that goes wrong."""
