"""Fitting what a contract has to what a candidate wrote: entries, arguments, weights."""
