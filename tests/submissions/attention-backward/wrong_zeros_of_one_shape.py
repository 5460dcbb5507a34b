# expect: rejected
# problem: attention-backward
# mistake: where grad_output is zero all gradients have the shape of q
import math

import torch


def attention_backward(q, k, v, grad_output):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("widths of q and k differ")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("lengths of k and v differ")
    if not (q.shape[:-2] == k.shape[:-2] == v.shape[:-2]):
        raise ValueError("leading dimensions differ")
    if grad_output.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError("grad_output is not of the shape of the output")
    with torch.no_grad():
        if not grad_output.any():  # nothing comes back, nothing to compute
            return torch.zeros_like(q), torch.zeros_like(q), torch.zeros_like(q)
        scale = 1.0 / math.sqrt(q.shape[-1])
        p = torch.softmax(torch.einsum("...ld,...sd->...ls", q, k) * scale, dim=-1)
        grad_v = torch.einsum("...ls,...le->...se", p, grad_output)
        grad_p = torch.einsum("...le,...se->...ls", grad_output, v)
        grad_s = p * (grad_p - (grad_p * p).sum(-1, keepdim=True)) * scale
        grad_q = torch.einsum("...ls,...sd->...ld", grad_s, k)
        grad_k = torch.einsum("...ls,...ld->...sd", grad_s, q)
    return grad_q, grad_k, grad_v
