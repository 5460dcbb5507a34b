'''
title = "An odd width does not fit"
killed_by = "odd-width"
explanation = """
With an odd d_model there is one sine more than there are cosines. Filling the odd columns \
with as many cosines as there are sines raises."""
hint = "How many even and how many odd columns do 7 columns have?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.empty(length, d_model, dtype=dtype)
    pairs[:, 0::2] = angles.sin()
    pairs[:, 1::2] = angles.cos()
    return pairs
