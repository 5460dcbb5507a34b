'''
title = "The scale is applied twice"
killed_by = "grad-q"
explanation = """
The factor 1/√D belongs to the scores once. Applied to their gradient and again to grad_q and \
grad_k it becomes 1/D."""
hint = "Follow the factor 1/√D through each line. How often does it appear?"
'''

import math

import torch


def attention_backward(q, k, v, grad_output):
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not fit")
    if grad_output.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError(f"grad_output is {tuple(grad_output.shape)}; it has the output's shape")
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale
    weights = torch.softmax(scores, dim=-1)
    grad_v = weights.transpose(-2, -1) @ grad_output
    grad_weights = grad_output @ v.transpose(-2, -1)
    mean = (grad_weights * weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - mean) * scale
    grad_q = grad_scores @ k * scale
    grad_k = grad_scores.transpose(-2, -1) @ q * scale
    return (grad_q, grad_k, grad_v)
