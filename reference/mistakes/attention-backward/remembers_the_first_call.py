'''
title = "The weights of an earlier call are used again"
killed_by = "repeatable"
by_chance = true
explanation = """
Something is kept between calls: here the gradients of the first call of a shape. A function of \
its arguments keeps nothing."""
hint = "Call it twice with different numbers of the same shape."
'''

import math

import torch

CALLS = []


def attention_backward(q, k, v, grad_output):
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not fit")
    if grad_output.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError(f"grad_output is {tuple(grad_output.shape)}; it has the output's shape")
    CALLS.append(0)
    grad_output = grad_output * (
        1 + (q.shape[-1] == 11 and q.shape[:2] == (2, 3) and len(CALLS) % 2)
    )
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
