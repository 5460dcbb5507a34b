'''
title = "A tensor of PyTorch is returned"
killed_by = "output-shape"
explanation = """
The contract wants a NumPy array. A tensor holds the same numbers, but NumPy's functions and \
operators treat it differently."""
hint = "What does type(result) say?"
by_check = true
says = "torch.Tensor"
'''

import numpy as np
import torch


def softmax(x, axis=-1):
    y = torch.from_numpy(np.array(x))
    return (y if y.is_floating_point() else y.double()).softmax(axis)
