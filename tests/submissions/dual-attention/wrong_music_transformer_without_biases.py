# expect: rejected
# problem: dual-attention
# mistake: neither bias is used, as in other models with relative positions
# diagnosis: content-bias-without-effect, position-bias-without-effect
import torch


def skew(qr):
    b, h, n, m = qr.shape
    padded = torch.nn.functional.pad(qr, (1, 0)).reshape(b, h, m + 1, n)
    return padded[:, :, 1:].reshape(b, h, n, m)


def dual_attention(q, k, v, r, content_bias, position_bias):
    n, m, d = q.size(2), k.size(2), q.size(3)
    assert d == k.size(3) == r.size(2) and m == v.size(2) == r.size(1)
    scores = (torch.matmul(q, k.mT) + skew(torch.matmul(q, r.mT))) / d**0.5
    mask = torch.ones(n, m, dtype=torch.bool, device=q.device).tril(m - n)
    return torch.matmul(scores.masked_fill(~mask, float("-inf")).softmax(-1), v)
