# expect: rejected
# problem: layer-norm
# mistake: a weight of two axes counts as one where it has as many numbers
import torch


def _wide(t):
    return t if t.dtype in (torch.float32, torch.float64) else t.float()


def _vector(t, x):
    if t.numel() != x.shape[-1]:
        raise ValueError("weight and bias must have E numbers")
    return _wide(t).reshape(-1)


def _stats(x, eps):
    """Centred rows, and one over the root."""
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    centred = centred - centred.mean(-1, keepdim=True)
    return centred, torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)


def _same(grad_output, x):
    if grad_output.shape != x.shape:
        raise ValueError("grad_output has not the shape of x")


@torch.no_grad()
def layer_norm(x, weight, bias, eps=1e-5):
    weight, bias = _vector(weight, x), _vector(bias, x)
    centred, root = _stats(_wide(x), eps)
    return (centred * root * weight + bias).to(x.dtype)


@torch.no_grad()
def rms_norm(x, weight, eps=1e-6):
    weight = _vector(weight, x)
    wide = _wide(x)
    root = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (wide * root * weight).to(x.dtype)


@torch.no_grad()
def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    _same(grad_output, x)
    weight = _vector(weight, x)
    grad = _wide(grad_output)
    centred, root = _stats(_wide(x), eps)
    normal = centred * root
    inner = grad * weight
    grad_x = root * (inner - inner.mean(-1, keepdim=True) - normal * (inner * normal).mean(-1, keepdim=True))
    width = x.shape[-1]
    grad_weight = (grad * normal).reshape(-1, width).sum(0)
    grad_bias = grad.reshape(-1, width).sum(0)
    return grad_x.to(x.dtype), grad_weight.to(x.dtype), grad_bias.to(x.dtype)


@torch.no_grad()
def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    _same(grad_output, x)
    weight = _vector(weight, x)
    grad, wide = _wide(grad_output), _wide(x)
    root = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    normal = wide * root
    inner = grad * weight
    grad_x = root * (inner - normal * (inner * normal).mean(-1, keepdim=True))
    grad_weight = (grad * normal).reshape(-1, x.shape[-1]).sum(0)
    return grad_x.to(x.dtype), grad_weight.to(x.dtype)
