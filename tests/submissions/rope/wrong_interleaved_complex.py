# expect: rejected
# problem: rope
# mistake: view_as_complex pairs neighbours
# diagnosis: interleaved-pairs
import torch


def apply_rotary_emb(xq, positions, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, xq.shape[-1], 2).float() / xq.shape[-1]))
    freqs_cis = torch.polar(torch.ones(len(positions), len(freqs)), torch.outer(positions.float(), freqs))
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    return torch.view_as_real(xq_ * freqs_cis).flatten(3).type_as(xq)
