"""An answer that is right in every check is asked again elsewhere in the domain of its problem.

The questions are those of the checks, varied in one respect at a time: scores and values of another
size, masks of another dtype, other lengths, gradients at other shapes, one object twice, and sizes
that do not belong together. Each follows a plain call that was right, so what is wrong has one
cause.
"""
