'''
title = "All L² weights are computed"
killed_by = "work"
explanation = """
The numbers are right, but φ(q) φ(k)ᵀ comes first and holds L × L weights. Then nothing is gained \
over softmax attention: the order of the two products is what makes it linear."""
hint = """
A product of three matrices can be bracketed in two ways. How large is what stands in each \
bracket?"""
by_check = true
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    weights = queries @ keys.transpose(-2, -1)
    if causal:
        weights = weights.tril()
    return weights / weights.sum(dim=-1, keepdim=True) @ v
