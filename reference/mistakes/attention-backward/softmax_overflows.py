'''
title = "The exponential overflows for large scores"
killed_by = "large-logits"
explanation = """
exp(x) is infinite in float32 from x = 89 on, and infinity by infinity is NaN. The largest score \
of the row has to be subtracted first."""
hint = "Try scores of 100."
'''

import math


def attention_backward(q, k, v, grad_output):
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not fit")
    if grad_output.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError(f"grad_output is {tuple(grad_output.shape)}; it has the output's shape")
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    grad_v = weights.transpose(-2, -1) @ grad_output
    grad_weights = grad_output @ v.transpose(-2, -1)
    mean = (grad_weights * weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - mean)
    grad_q = grad_scores @ k * scale
    grad_k = grad_scores.transpose(-2, -1) @ q * scale
    return (grad_q, grad_k, grad_v)
