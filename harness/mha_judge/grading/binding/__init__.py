"""Binds the entries, arguments and weights of a contract to those that a candidate wrote."""
