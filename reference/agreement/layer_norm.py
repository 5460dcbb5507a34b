"""The reference against PyTorch's own norms, autograd on them, and finite differences."""

import torch
from reference.layer_norm import layer_norm, layer_norm_backward, rms_norm, rms_norm_backward
from torch.nn import functional


@torch.enable_grad()
def cases():
    """Yield a name, a value of the reference and one from elsewhere, in float64."""
    for shape, eps in (((2, 3, 7), 1e-5), ((5, 11), 0.5), ((6,), 1e-6)):
        size = shape[-1:]
        x, grad = (torch.randn(shape, dtype=torch.float64) for _ in range(2))
        weight, bias = (torch.randn(size, dtype=torch.float64) for _ in range(2))
        inputs = [one.clone().requires_grad_() for one in (x, weight, bias)]
        theirs = functional.layer_norm(inputs[0], size, *inputs[1:], eps)
        yield f"layer_norm {shape}", layer_norm(x, weight, bias, eps), theirs.detach()
        own = layer_norm_backward(grad, x, weight, eps)
        for name, mine, other in zip(
            ("x", "weight", "bias"), own, torch.autograd.grad(theirs, inputs, grad), strict=True
        ):
            yield f"layer_norm {shape}, grad_{name}", mine, other
        theirs = functional.rms_norm(inputs[0], size, inputs[1], eps)
        yield f"rms_norm {shape}", rms_norm(x, weight, eps), theirs.detach()
        own = rms_norm_backward(grad, x, weight, eps)
        for name, mine, other in zip(
            ("x", "weight"), own, torch.autograd.grad(theirs, inputs[:2], grad), strict=True
        ):
            yield f"rms_norm {shape}, grad_{name}", mine, other
    for shape in ((3, 5), (4,)):
        x, weight = (torch.randn(one, dtype=torch.float64) for one in (shape, shape[-1:]))
        for function, backward, others in (
            (layer_norm, layer_norm_backward, (torch.zeros_like(weight),)),
            (rms_norm, rms_norm_backward, ()),
        ):
            grad, step = torch.randn(shape, dtype=torch.float64), torch.randn_like(x)
            ahead, behind = (function(x + t * step, weight, *others) for t in (1e-6, -1e-6))
            slope = ((ahead - behind) * grad).sum() / 2e-6
            found = (backward(grad, x, weight)[0] * step).sum()
            # finite differences hold about nine digits
            near = (found - slope).abs() < 1e-7 * (1 + slope.abs())
            yield (
                f"finite differences, {function.__name__} {shape}",
                *(torch.tensor(float(one), dtype=torch.float64) for one in (near, True)),
            )
