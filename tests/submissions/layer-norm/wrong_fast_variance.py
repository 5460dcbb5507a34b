# expect: rejected
# problem: layer-norm
# mistake: the variance is E[x²] − E[x]² in one pass, cut off at 0, as Flax has it by default
# diagnosis: variance-drowned
import torch


def wide(t):
    return t.to(torch.promote_types(t.dtype, torch.float32))


def statistics(h, eps, centred):
    mean_of_squares = (h * h).mean(-1, keepdim=True)
    if not centred:
        return 0 * mean_of_squares, 1 / torch.sqrt(mean_of_squares + eps)
    mean = h.mean(-1, keepdim=True)
    return mean, 1 / torch.sqrt(torch.relu(mean_of_squares - mean * mean) + eps)


def forward(x, weight, bias, eps, centred):
    if weight.shape != x.shape[-1:] or (bias is not None and bias.shape != x.shape[-1:]):
        raise ValueError("weight and bias are (E,)")
    h = wide(x)
    mean, inverse = statistics(h, eps, centred)
    y = (h - mean) * inverse * wide(weight)
    return (y if bias is None else y + wide(bias)).to(x.dtype)


def backward(dy, x, weight, eps, centred):
    if weight.shape != x.shape[-1:] or dy.shape != x.shape:
        raise ValueError("shapes do not fit")
    h, g = wide(x), wide(dy)
    mean, inverse = statistics(h, eps, centred)
    unit = (h - mean) * inverse
    inner = g * wide(weight)
    dx = inner - unit * (inner * unit).mean(-1, keepdim=True)
    if centred:
        dx = dx - inner.mean(-1, keepdim=True)
    E = x.shape[-1]
    grads = dx * inverse, (g * unit).reshape(-1, E).sum(0), g.reshape(-1, E).sum(0)
    return tuple(one.to(x.dtype) for one in grads)


def layer_norm(x, weight, bias, eps=1e-5):
    return forward(x, weight, bias, eps, True)


def rms_norm(x, weight, eps=1e-6):
    return forward(x, weight, None, eps, False)


def layer_norm_backward(dy, x, weight, eps=1e-5):
    return backward(dy, x, weight, eps, True)


def rms_norm_backward(dy, x, weight, eps=1e-6):
    return backward(dy, x, weight, eps, False)[:2]
