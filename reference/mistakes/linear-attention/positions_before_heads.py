'''
title = "The output has its positions before its heads"
killed_by = "output-shape"
explanation = """
The heads are brought to the end, (B, L, H, D), as before they are merged. The contract's output \
has the axes of its inputs."""
hint = """
Print the shape of the output beside that of q."""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return (numerator / denominator).transpose(1, 2)
