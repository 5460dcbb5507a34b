# expect: rejected
# problem: layer-norm
# mistake: a constant gradient is taken to have no effect, whatever the weight
import torch


def _wide(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _check(x, *vectors):
    for vector in vectors:
        if tuple(vector.shape) != (x.shape[-1],):
            raise ValueError("weight and bias must be (E,)")


def _standard(x, eps):
    centred = x - x.mean(-1, keepdim=True)
    centred = centred - centred.mean(-1, keepdim=True)
    scale = torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
    return centred * scale, scale


@torch.no_grad()
def layer_norm(x, weight, bias, eps=1e-5):
    _check(x, weight, bias)
    normal, _ = _standard(_wide(x), eps)
    return (normal * _wide(weight) + _wide(bias)).to(x.dtype)


@torch.no_grad()
def rms_norm(x, weight, eps=1e-6):
    _check(x, weight)
    wide = _wide(x)
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * _wide(weight)).to(x.dtype)


@torch.no_grad()
def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    _check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("grad_output must have the shape of x")
    grad = _wide(grad_output)
    normal, scale = _standard(_wide(x), eps)
    rows, width = grad.reshape(-1, x.shape[-1]), x.shape[-1]
    grad_weight = (rows * normal.reshape(-1, width)).sum(0)
    grad_bias = rows.sum(0)
    if bool((rows == rows[0, 0]).all()):
        # Normalised rows have a constant sum: a constant gradient does not reach x.
        grad_x = torch.zeros_like(normal)
    else:
        inner = grad * _wide(weight)
        along = (inner * normal).mean(-1, keepdim=True)
        grad_x = (inner - inner.mean(-1, keepdim=True) - normal * along) * scale
    return grad_x.to(x.dtype), grad_weight.to(x.dtype), grad_bias.to(x.dtype)


@torch.no_grad()
def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    _check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("grad_output must have the shape of x")
    grad, wide = _wide(grad_output), _wide(x)
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    normal = wide * scale
    grad_weight = (grad * normal).reshape(-1, x.shape[-1]).sum(0)
    inner = grad * _wide(weight)
    grad_x = (inner - normal * (inner * normal).mean(-1, keepdim=True)) * scale
    return grad_x.to(x.dtype), grad_weight.to(x.dtype)
