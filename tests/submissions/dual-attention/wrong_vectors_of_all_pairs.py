# expect: rejected
# problem: dual-attention
# mistake: the embeddings are gathered for each pair: (H, L, S, D)
# diagnosis: tensor-too-large
import torch


def dual_attention(q, k, v, r, content_bias, position_bias):
    L, S, D = q.shape[2], k.shape[2], q.shape[3]
    if k.shape[3] != D or r.shape[1:] != (S, D) or v.shape[2] != S:
        raise ValueError("sizes")
    steps = torch.arange(L)[:, None] + (S - L) - torch.arange(S)[None, :]
    relative = r.flip(1)[:, steps.clamp(min=0)]
    score = (q + content_bias[:, None]) @ k.mT
    score = score + ((q + position_bias[:, None]).unsqueeze(3) * relative).sum(-1)
    score = torch.where(steps >= 0, score / D**0.5, torch.tensor(-torch.inf, dtype=q.dtype))
    return torch.softmax(score, dim=3) @ v
