# expect: accepted
# problem: rope
# the partner by a roll of half the width, the sign in the table
import torch


def apply_rotary(t, idx, base=10000):
    D = t.size(3)
    if D != 2 * (D // 2):
        raise RuntimeError("even width please")
    i = torch.arange(D) % (D // 2)
    phase = idx.view(-1, 1) * torch.pow(torch.tensor(float(base)), -2 * i / D)
    sign = torch.where(torch.arange(D) < D // 2, -1.0, 1.0)
    y = t.float() if t.dtype in (torch.float16, torch.bfloat16) else t
    y = y * phase.cos().to(y.dtype) + y.roll(D // 2, -1) * (sign * phase.sin()).to(y.dtype)
    return y.to(t.dtype)
