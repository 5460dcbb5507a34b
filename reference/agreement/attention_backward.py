"""The reference against autograd on PyTorch's fused attention, and against finite differences."""

import torch
from reference.attention_backward import attention_backward
from torch.nn import functional


@torch.enable_grad()
def cases():
    """Yield a name, a gradient of the reference and one from elsewhere, in float64."""
    for leading in ((2, 3), (4,), ()):
        shapes = ((5, 11), (7, 11), (7, 13), (5, 13))
        q, k, v, grad = (torch.randn(*leading, *s, dtype=torch.float64) for s in shapes)
        own = attention_backward(q, k, v, grad)
        inputs = [one.clone().requires_grad_() for one in (q, k, v)]
        output = functional.scaled_dot_product_attention(*inputs)
        theirs = torch.autograd.grad(output, inputs, grad)
        for name, mine, other in zip("qkv", own, theirs, strict=True):
            yield f"autograd, grad_{name}, {len(leading)} leading dimensions", mine, other
    q, k, v = (torch.randn(2, n, 3, dtype=torch.float64) for n in (4, 5, 5))

    class ByHand(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            ctx.save_for_backward(q, k, v)
            return functional.scaled_dot_product_attention(q, k, v)

        @staticmethod
        def backward(ctx, grad):
            return attention_backward(*ctx.saved_tensors, grad)

    inputs = [one.requires_grad_() for one in (q, k, v)]
    holds = torch.autograd.gradcheck(ByHand.apply, inputs)
    yield (
        "finite differences (gradcheck)",
        *(torch.tensor(n, dtype=torch.float64) for n in (holds, True)),
    )
