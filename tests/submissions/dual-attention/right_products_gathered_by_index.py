# expect: accepted
# problem: dual-attention
import torch


def dual_attention(q, k, v, r, content_bias, position_bias):
    b, h, n, d = q.shape
    total = k.shape[2]
    assert k.shape[3] == d == r.shape[2], "widths differ"
    assert v.shape[2] == total == r.shape[1], "lengths differ"
    where = torch.arange(total - n, total, device=q.device)[:, None]
    distance = where - torch.arange(total, device=q.device)
    row = (total - 1 - distance).clamp(max=total - 1)
    by_distance = torch.einsum("bhid,htd->bhit", q + position_bias[None, :, None], r)
    position = torch.gather(by_distance, 3, row.expand(b, h, n, total))
    content = torch.einsum("bhid,bhjd->bhij", q + content_bias[None, :, None], k)
    scores = (content + position) * d**-0.5
    scores = torch.where(distance < 0, torch.full_like(scores, float("-inf")), scores)
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)
