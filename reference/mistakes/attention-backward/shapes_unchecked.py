'''
title = "Shapes that do not belong together are cut to fit"
killed_by = "bad-shapes"
explanation = """
The shorter of k and v, or of q and k, decides. A caller's mistake then gives gradients that look \
right."""
hint = "Call it with one value fewer than keys."
'''

import math

import torch


def attention_backward(q, k, v, grad_output):
    width = min(q.shape[-1], k.shape[-1])
    q, k = (q[..., :width], k[..., :width])
    if grad_output.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError(f"grad_output is {tuple(grad_output.shape)}; it has the output's shape")
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale
    weights = torch.softmax(scores, dim=-1)
    grad_v = weights.transpose(-2, -1) @ grad_output
    grad_weights = grad_output @ v.transpose(-2, -1)
    mean = (grad_weights * weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - mean)
    grad_q = grad_scores @ k * scale
    grad_k = grad_scores.transpose(-2, -1) @ q * scale
    return (grad_q, grad_k, grad_v)
