# expect: rejected
# problem: layer-norm
# mistake: std with E − 1, and eps beside it, as in the Annotated Transformer
# diagnosis: norm-with-unbiased-std
import torch


def up(t):
    return t.float() if t.dtype in (torch.float16, torch.bfloat16) else t


def layer_norm(x, a_2, b_2, eps=1e-5):
    if not a_2.shape == b_2.shape == x.shape[-1:]:
        raise ValueError
    h = up(x)
    mean = h.mean(-1, keepdim=True)
    std = h.std(-1, keepdim=True)
    return (up(a_2) * (h - mean) / (std + eps) + up(b_2)).to(x.dtype)


def rms_norm(x, a_2, eps=1e-6):
    if a_2.shape != x.shape[-1:]:
        raise ValueError
    h = up(x)
    return (up(a_2) * h / torch.sqrt((h**2).mean(-1, keepdim=True) + eps)).to(x.dtype)


def _projected(g, unit, root, *others):
    for one in (unit, *others):
        g = g - one * (g * one).mean(-1, keepdim=True)
    return g / root


def _check(g, x, w):
    if g.shape != x.shape or w.shape != x.shape[-1:]:
        raise ValueError


def layer_norm_backward(grad_output, x, a_2, eps=1e-5):
    _check(grad_output, x, a_2)
    g, h = up(grad_output), up(x)
    root = h.std(-1, keepdim=True) + eps
    unit = (h - h.mean(-1, keepdim=True)) / root
    along = unit * (g * up(a_2) * unit).mean(-1, keepdim=True)
    grad_x = (g * up(a_2) - (g * up(a_2)).mean(-1, keepdim=True) - along) / root
    E = x.shape[-1]
    return tuple(
        t.to(x.dtype) for t in (grad_x, (g * unit).reshape(-1, E).sum(0), g.reshape(-1, E).sum(0))
    )


def rms_norm_backward(grad_output, x, a_2, eps=1e-6):
    _check(grad_output, x, a_2)
    g, h = up(grad_output), up(x)
    root = torch.sqrt((h**2).mean(-1, keepdim=True) + eps)
    grad_weight = (g * h / root).reshape(-1, x.shape[-1]).sum(0)
    return _projected(g * up(a_2), h / root, root).to(x.dtype), grad_weight.to(x.dtype)
