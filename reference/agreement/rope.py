"""The reference against complex numbers, against rotation matrices, and against itself shifted."""

import math

import torch
from reference.rope import apply_rope


def cases():
    """Yield a name, the reference's value and the other's, in float64."""
    B, H, L, D = 2, 3, 5, 8
    positions = torch.tensor([3, 0, 7, 7, 100])
    for base in (10000.0, 50.0):
        x = torch.randn(B, H, L, D, dtype=torch.float64)
        angles = torch.tensor(
            [
                [m * math.exp(-2 * i / D * math.log(base)) for i in range(D // 2)]
                for m in positions.tolist()
            ],
            dtype=torch.float64,
        )
        own = apply_rope(x, positions, base)
        yield f"products of complex numbers, base {base:g}", own, _complex(x, angles)
        yield f"rotation matrices, base {base:g}", own, _matrices(x, angles)

    q, k = torch.randn(2, 1, 1, 1, D, dtype=torch.float64)
    near = apply_rope(q, torch.tensor([4])) @ apply_rope(k, torch.tensor([1])).mT
    far = apply_rope(q, torch.tensor([904])) @ apply_rope(k, torch.tensor([901])).mT
    yield "itself, 900 positions on", near, far


def _complex(x, angles):
    """Multiply by exp(i angle); x (B, H, L, D), angles (L, D/2)."""
    half = x.shape[-1] // 2
    numbers = torch.complex(x[..., :half].contiguous(), x[..., half:].contiguous())
    turned = numbers * torch.exp(1j * angles)
    return torch.cat([turned.real, turned.imag], dim=-1)


def _matrices(x, angles):
    """Multiply each token by a (D, D) matrix of 2 × 2 rotations."""
    half = x.shape[-1] // 2
    result = torch.empty_like(x)
    for token, row in enumerate(angles):
        rotation = torch.zeros(2 * half, 2 * half, dtype=x.dtype)
        for i, angle in enumerate(row):
            rotation[i, i] = rotation[i + half, i + half] = angle.cos()
            rotation[i, i + half], rotation[i + half, i] = -angle.sin(), angle.sin()
        result[:, :, token] = x[:, :, token] @ rotation.T
    return result
