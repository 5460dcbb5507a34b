# expect: rejected
# problem: dual-attention
# mistake: only the last rows of a longer r are used, without a word
# diagnosis: positions-cut-to-fit
import torch


def dual_attention(q, k, v, r, content_bias, position_bias):
    L, S = q.shape[2], k.shape[2]
    table = (q + position_bias[:, None]) @ r[:, -S:].mT
    moved = [table[:, :, i].roll(i + 1 - L, -1) for i in range(L)]
    scores = ((q + content_bias[:, None]) @ k.mT + torch.stack(moved, 2)) / q.shape[3] ** 0.5
    seen = torch.ones(L, S, device=q.device).tril(S - L) > 0
    return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v
