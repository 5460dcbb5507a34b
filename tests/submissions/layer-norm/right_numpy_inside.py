# expect: accepted
# problem: layer-norm
"""The arithmetic in NumPy, in float64 throughout."""

import numpy as np
import torch


def arrays(*tensors):
    return [t.detach().double().numpy() for t in tensors]


def back(array, like):
    return torch.from_numpy(np.ascontiguousarray(array)).to(like.dtype)


def moments(a, eps):
    mean = a.mean(axis=-1, keepdims=True)
    return mean, 1 / np.sqrt(a.var(axis=-1, keepdims=True) + eps)


def over_rows(a):
    return a.reshape(-1, a.shape[-1]).sum(axis=0)


def fits(x, *parameters):
    for p in parameters:
        if p.shape != x.shape[-1:]:
            raise TypeError(f"{p.shape} for {x.shape}")


def layer_norm(x, w, b, e=1e-5):
    fits(x, w, b)
    a, weight, bias = arrays(x, w, b)
    mean, r = moments(a, e)
    return back((a - mean) * r * weight + bias, x)


def rms_norm(x, w, e=1e-6):
    fits(x, w)
    a, weight = arrays(x, w)
    return back(a * weight / np.sqrt((a**2).mean(-1, keepdims=True) + e), x)


def layer_norm_backward(do, x, w, e=1e-5):
    fits(x, w)
    if do.shape != x.shape:
        raise TypeError("do has the shape of x")
    g, a, weight = arrays(do, x, w)
    mean, r = moments(a, e)
    a = (a - mean) * r
    h = g * weight
    along = np.einsum("...e,...e->...", h, a)[..., None] / a.shape[-1]
    dx = r * (h - h.mean(-1, keepdims=True) - a * along)
    return back(dx, x), back(over_rows(g * a), x), back(over_rows(g), x)


def rms_norm_backward(do, x, w, e=1e-6):
    fits(x, w)
    if do.shape != x.shape:
        raise TypeError("do has the shape of x")
    g, a, weight = arrays(do, x, w)
    r = 1 / np.sqrt((a**2).mean(-1, keepdims=True) + e)
    h = g * weight
    dx = r * h - r**3 * a * (h * a).mean(-1, keepdims=True)
    return back(dx, x), back(over_rows(g * a * r), x)
