# expect: rejected
# problem: dual-attention
# mistake: the columns of the products with r are taken for keys
# diagnosis: shift-left-out
import torch


def dual_attention(q, k, v, r, u, w):
    ac = torch.einsum("bhid,bhjd->bhij", q + u[None, :, None, :], k)
    bd = torch.einsum("bhid,hjd->bhij", q + w[None, :, None, :], r)
    score = (ac + bd) / q.shape[-1] ** 0.5
    L, S = score.shape[-2:]
    later = torch.arange(S)[None] > torch.arange(L)[:, None] + S - L
    score = score.masked_fill(later.to(q.device), -1e9)
    return torch.einsum("bhij,bhjd->bhid", torch.softmax(score, -1), v)
