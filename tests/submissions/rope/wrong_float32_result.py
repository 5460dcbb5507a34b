# expect: rejected
# problem: rope
# mistake: float32 tables promote a half-precision x
# diagnosis: result-promoted
import torch


def apply_rope(q, position, theta=10000.0):
    width = q.shape[-1]
    assert not width % 2
    w = torch.exp(torch.arange(0, width, 2) * -(torch.log(torch.tensor(theta)) / width))
    t = torch.einsum("l,f->lf", position.float(), w)
    lo, hi = torch.split(q, width // 2, dim=-1)
    return torch.cat([lo * t.cos() - hi * t.sin(), hi * t.cos() + lo * t.sin()], dim=-1)
