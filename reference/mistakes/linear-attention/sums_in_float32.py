'''
title = "Sums are kept in float32 and widen the result"
killed_by = "bfloat16"
explanation = """
The sums are float32, which is good for precision, but nothing converts the result back: bfloat16 \
inputs come out as float32."""
hint = """
Print the dtype of the output for bfloat16 and float16 input."""
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
        sums = keys.cumsum(dim=2, dtype=torch.promote_types(q.dtype, torch.float32))
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True, dtype=torch.promote_types(q.dtype, torch.float32))
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
