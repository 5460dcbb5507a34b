# expect: accepted
# problem: attention-backward
"""The softmax's Jacobian written out: (…, L, S, S)."""

import torch


def attention_backward(q, k, v, grad_output):
    if grad_output.shape[-1] != v.shape[-1] or grad_output.shape[-2] != q.shape[-2]:
        raise ValueError("grad_output")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v")
    d = q.shape[-1]
    P = ((q @ k.mT) / d**0.5).softmax(-1)
    dP = grad_output @ v.mT
    J = torch.diag_embed(P) - P.unsqueeze(-1) * P.unsqueeze(-2)
    dS = (J @ dP.unsqueeze(-1)).squeeze(-1) / d**0.5
    return dS @ k, dS.mT @ q, P.mT @ grad_output
