'''
title = "Each entry goes through a sigmoid of its own"
killed_by = "values"
explanation = """
1 / (1 + exp(−x)) looks at one entry alone. Rows do not sum to 1, and nothing competes."""
hint = "Add up a row. Does raising one number lower the others?"
'''

import numpy as np


def softmax(x, axis=-1):
    return 1 / (1 + np.exp(-x))
