# expect: rejected
# problem: softmax
# mistake: PyTorch does the work
# diagnosis: written-in-torch
import numpy as np
import torch.nn.functional as F
from torch import from_numpy


def softmax(x, axis=-1):
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    return F.softmax(from_numpy(x.astype(dtype)), dim=axis).numpy()
