"""The reference against PyTorch's norm and fused attention, and rotations as complex numbers."""

import torch
from reference.pre_norm_block import PreNormBlock
from torch import Tensor
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and one made otherwise, (B, L, E) in float64."""
    torch.set_default_dtype(torch.float64)  # the angles are computed in it
    try:
        found = [*_cases()]
    finally:
        torch.set_default_dtype(torch.float32)
    yield from found


def _cases():
    for groups, spread in ((1, 1.0), (2, 0.03), (6, 1e-3), (3, 30.0)):
        block = PreNormBlock(36, 6, groups, 23)
        for norm in (block.norm1, block.norm2):
            norm.weight.copy_(1 + torch.randn(36) / 4)
        x = spread * torch.randn(2, 19, 36)
        yield f"torch's own parts, {groups} groups, inputs of {spread}", block(x), _other(block, x)


def _other(block: PreNormBlock, x: Tensor) -> Tensor:
    read = functional.rms_norm(x, (36,), block.norm1.weight, eps=1e-6)
    maps = (block.q_proj, block.k_proj, block.v_proj)
    q, k, v = (one(read).unflatten(-1, (-1, 6)).transpose(1, 2) for one in maps)
    heads = functional.scaled_dot_product_attention(
        _spun(q), _spun(k), v, is_causal=True, enable_gqa=True
    )
    x = x + block.out_proj(heads.transpose(1, 2).flatten(2))
    read = functional.rms_norm(x, (36,), block.norm2.weight, eps=1e-6)
    gate, up = block.gate_proj(read), block.up_proj(read)
    return x + block.down_proj(gate * torch.sigmoid(gate) * up)


def _spun(x: Tensor) -> Tensor:
    """Return x, (B, heads, 19, 6), whose halves are real and imaginary parts, spun."""
    frequencies = torch.tensor([1.0, 10_000 ** (-1 / 3), 10_000 ** (-2 / 3)])
    spin = torch.polar(torch.ones(19, 3), torch.arange(19.0).unsqueeze(1) * frequencies)
    turned = torch.complex(*x.chunk(2, dim=-1)) * spin
    return torch.cat((turned.real, turned.imag), dim=-1)
