import math

import torch


class Windowed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, window):
        wide = torch.promote_types(q.dtype, torch.float32)
        ctx.save_for_backward(q, k, v)
        ctx.window = window
        length = q.shape[-2]
        offsets = torch.arange(1 - min(window, length), 1, device=q.device)
        places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
        keys, values = (one.to(wide)[..., places.clamp(min=0), :] for one in (k, v))
        scores = torch.einsum("bhld,bhlwd->bhlw", q.to(wide), keys) / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(places < 0, -math.inf).softmax(-1)
        return torch.einsum("bhlw,bhlwd->bhld", weights, values).to(q.dtype)

    @staticmethod
    def backward(ctx, gradient):
        wide = torch.promote_types(gradient.dtype, torch.float32)
        q, k, v = (one.to(wide) for one in ctx.saved_tensors)
        upstream, scale = gradient.to(wide), 1 / math.sqrt(q.shape[-1])

        place = torch.arange(q.shape[-2], device=q.device)
        distance = place.unsqueeze(1) - place
        outside = (distance < 0) | (distance >= ctx.window)
        weights = (q @ k.mT * scale).masked_fill(outside, -math.inf).softmax(-1)
        of_weights = upstream @ v.mT
        of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True)) * scale
        of_inputs = of_scores @ k, of_scores.mT @ q, weights.mT @ upstream
        return *(one.to(gradient.dtype) for one in of_inputs), None


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if window < 1:
        raise ValueError("a window without positions")
    return Windowed.apply(q, k, v, window)
