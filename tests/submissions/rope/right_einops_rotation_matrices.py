# expect: accepted
# problem: rope
# explicit 2 x 2 matrices for every position and pair
import torch
from einops import einsum, rearrange


def rotary_embedding(tensor, pos, base=1e4):
    if tensor.shape[-1] & 1:
        raise ValueError("odd head size")
    pairs = rearrange(tensor, "b h n (two half) -> b h n half two", two=2)
    half = pairs.shape[-2]
    theta = torch.tensor([base ** (-2 * i / (2 * half)) for i in range(half)], dtype=torch.float64)
    phi = pos.double().unsqueeze(1) * theta
    R = torch.stack([phi.cos(), -phi.sin(), phi.sin(), phi.cos()], -1).unflatten(-1, (2, 2))
    turned = einsum(R.to(tensor.dtype), pairs, "n half i j, b h n half j -> b h n half i")
    return rearrange(turned, "b h n half two -> b h n (two half)")
