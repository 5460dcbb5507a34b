# expect: rejected
# problem: attention-backward
# mistake: weights are kept by the sums of q and k, which another order does not change
import math

import torch


def _make():
    last = {}

    def weights_of(q, k, scale):
        key = tuple(
            (tuple(x.shape), x.dtype, x.device,
             f"{x.double().sum().item():.6e}", f"{x.double().square().sum().item():.6e}")
            for x in (q, k)
        )
        if last.get("key") != key:
            last["weights"] = torch.softmax(q @ k.transpose(-1, -2) * scale, dim=-1)
            last["key"] = key
        return last["weights"].clone()

    return weights_of


_weights_of = _make()


def attention_backward(q, k, v, grad_output):
    with torch.no_grad():
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError("shapes of q, k, v do not match")
        if grad_output.shape != q.shape[:-1] + v.shape[-1:]:
            raise ValueError("grad_output has a wrong shape")
        if q.shape[:-2] != k.shape[:-2] or q.shape[:-2] != v.shape[:-2]:
            raise ValueError("leading dimensions differ")
        dtype = q.dtype
        work = torch.float64 if dtype == torch.float64 else torch.float32
        q, k, v, g = (x.to(work) for x in (q, k, v, grad_output))
        scale = q.shape[-1] ** -0.5
        p = _weights_of(q, k, scale)
        grad_v = torch.einsum("...ls,...ld->...sd", p, g)
        dp = torch.einsum("...ld,...sd->...ls", g, v)
        ds = p * (dp - (p * dp).sum(-1, keepdim=True)) * scale
        grad_q = torch.einsum("...ls,...sd->...ld", ds, k)
        grad_k = torch.einsum("...ls,...ld->...sd", ds, q)
        return grad_q.to(dtype), grad_k.to(dtype), grad_v.to(dtype)
