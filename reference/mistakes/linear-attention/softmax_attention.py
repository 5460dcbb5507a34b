'''
title = "This is softmax attention, and torch's own"
killed_by = "values"
explanation = """
The weights are exp(q · k / √D), divided by their sums. Linear attention replaces the exponential \
of a product by a product of features, so that the keys can be summed once for all queries."""
hint = """
Where in the contract's formula is an exponential of q · k?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
