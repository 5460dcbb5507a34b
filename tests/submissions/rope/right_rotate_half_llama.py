# expect: accepted
# problem: rope
# cos and sin repeated for both halves, rotate_half as in many Llama ports
import torch


def rotate_half(x):
    """Rotates half the hidden dims of the input."""
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, position_ids, rope_theta=10000.0):
    dim = q.shape[-1]
    inv_freq = 1.0 / (rope_theta ** (torch.arange(0, dim, 2).float() / dim))
    freqs = torch.einsum("i,j->ij", position_ids.float(), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    cos = emb.cos()[None, None, :, :]
    sin = emb.sin()[None, None, :, :]
    return ((q * cos) + (rotate_half(q) * sin)).to(q.dtype)
