# expect: rejected
# problem: layer-norm
# mistake: gradients of weights are summed in blocks of 8192 rows, and what is left is forgotten
import torch


def wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def check(x, *parameters):
    if any(one.shape != x.shape[-1:] for one in parameters):
        raise ValueError("a parameter is not as wide as the input")


def layer_norm(x, weight, bias, eps=1e-5):
    check(x, weight, bias)
    z = wide(x)
    z = z - z.mean(-1, keepdim=True)
    z = z * (z.square().mean(-1, keepdim=True) + eps).rsqrt()
    return (z * wide(weight) + wide(bias)).to(x.dtype)


def rms_norm(x, weight, eps=1e-6):
    check(x, weight)
    z = wide(x)
    return (z * (z.square().mean(-1, keepdim=True) + eps).rsqrt() * wide(weight)).to(x.dtype)


def over_rows(terms):
    terms = terms.reshape(-1, terms.shape[-1])
    blocks = len(terms) // 8192
    if blocks:
        terms = terms[: 8192 * blocks].unflatten(0, (blocks, 8192)).sum(1)
    return terms.sum(0)


def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("a gradient is unlike the input")
    g, z = wide(grad_output), wide(x)
    z = z - z.mean(-1, keepdim=True)
    r = (z.square().mean(-1, keepdim=True) + eps).rsqrt()
    z, h = z * r, g * wide(weight)
    dx = r * (h - h.mean(-1, keepdim=True) - z * (h * z).mean(-1, keepdim=True))
    return dx.to(x.dtype), over_rows(g * z).to(x.dtype), over_rows(g).to(x.dtype)


def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("a gradient is unlike the input")
    g, z = wide(grad_output), wide(x)
    r = (z.square().mean(-1, keepdim=True) + eps).rsqrt()
    z, h = z * r, g * wide(weight)
    dx = r * (h - z * (h * z).mean(-1, keepdim=True))
    return dx.to(x.dtype), over_rows(g * z).to(x.dtype)
