"""Which circumstances of a call an answer cannot notice, as far as its source proves it.

A file that only computes with its inputs gives the same whatever was called before, whatever
requires gradients, and wherever its inputs lie in memory. Rows that vary this could tell nothing
new, and are not asked. The proof is by lists of what is harmless: a file with anything else, be it
a `try`, a list outside of functions or a method that is not listed, is asked every row.

What a listed function does is what its library says, but for rounding. Numbers, sizes, dtypes and
masks may matter to any file, and so may that a result is a view of an input or a weight: they are
always asked.
"""
