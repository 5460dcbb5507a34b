# expect: accepted
# problem: layer-norm
"""Welford's running mean and variance, feature by feature, with steps in place on copies."""

import torch


class Norm:
    """One norm with or without a mean; it keeps nothing between calls."""

    def __init__(self, centred):
        self.centred = centred

    def statistics(self, x, eps):
        mean = torch.zeros_like(x[..., :1])
        squares = torch.zeros_like(mean)
        for count, feature in enumerate(x.unbind(-1), 1):
            feature = feature.unsqueeze(-1)
            if not self.centred:
                squares.addcmul_(feature, feature)
                continue
            delta = feature - mean
            mean.add_(delta / count)
            squares.addcmul_(delta, feature - mean)
        return mean, squares.div_(x.shape[-1]).add_(eps).rsqrt_()

    def forward(self, x, weight, bias, eps):
        for one in (weight, bias):
            if one is not None and one.shape != x.shape[-1:]:
                raise RuntimeError("weight and bias are (E,)")
        out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, torch.float32)).copy_(x)
        mean, inverse = self.statistics(out, eps)
        out.sub_(mean).mul_(inverse).mul_(weight)
        return (out if bias is None else out.add_(bias)).to(x.dtype)

    def backward(self, grad_output, x, weight, eps):
        if grad_output.shape != x.shape or weight.shape != x.shape[-1:]:
            raise RuntimeError("shapes do not fit")
        wide = torch.promote_types(x.dtype, torch.float32)
        copied = x.to(wide, copy=True)
        mean, inverse = self.statistics(copied, eps)
        copied.sub_(mean).mul_(inverse)
        gradient = grad_output.to(wide)
        grad_weight = torch.einsum("...e,...e->e", gradient, copied)
        grad_bias = torch.einsum("...e->e", gradient)
        grad_x = gradient * weight.to(wide)
        along = torch.einsum("...e,...e->...", grad_x, copied).unsqueeze(-1) / x.shape[-1]
        if self.centred:
            grad_x -= grad_x.mean(-1, keepdim=True)
        grad_x.sub_(copied.mul_(along)).mul_(inverse)
        return tuple(one.to(x.dtype) for one in (grad_x, grad_weight, grad_bias))


LAYER, RMS = Norm(True), Norm(False)


def layer_norm(x, weight, bias, eps=1e-5):
    return LAYER.forward(x, weight, bias, eps)


def rms_norm(x, weight, eps=1e-6):
    return RMS.forward(x, weight, None, eps)


def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    return LAYER.backward(grad_output, x, weight, eps)


def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    return RMS.backward(grad_output, x, weight, eps)[:2]
