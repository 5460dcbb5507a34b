'''
title = "The result comes from PyTorch"
killed_by = "written-in-numpy"
explanation = """
torch.softmax gives the right numbers, but the exercise is to write what it does."""
hint = "Three operations of NumPy and a division are enough."
by_check = true
'''

import numpy as np
import torch


def softmax(x, axis=-1):
    y = torch.from_numpy(np.array(x)).double().softmax(axis).numpy()
    return y.astype(x.dtype) if x.dtype.kind == "f" else y
