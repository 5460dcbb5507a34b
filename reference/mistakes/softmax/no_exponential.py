'''
title = "The numbers are divided by their sum, without exp"
killed_by = "values"
explanation = """
x / sum(x) sums to 1 as well, but it gives negative weights and depends on the level of the \
numbers."""
hint = "What weight does a negative number get?"
'''


def softmax(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)
