# expect: rejected
# problem: rope
# mistake: pairs of neighbours
# diagnosis: interleaved-pairs
import torch


def rotate_every_two(x):
    x1 = x[..., ::2]
    x2 = x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def apply_rotary_pos_emb(tensor, positions, base=10000):
    dim = tensor.shape[-1]
    assert dim % 2 == 0
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2) / dim))
    sinusoid = torch.einsum("i,j->ij", positions.float(), inv_freq)
    sin = torch.repeat_interleave(sinusoid.sin(), 2, dim=-1).to(tensor.dtype)
    cos = torch.repeat_interleave(sinusoid.cos(), 2, dim=-1).to(tensor.dtype)
    return tensor * cos + rotate_every_two(tensor) * sin
