# expect: rejected
# problem: dual-attention
# mistake: q += content_bias changes the caller's queries
# diagnosis: queries-biased-in-place
import torch


def dual_attention(q, k, v, r, content_bias, position_bias):
    n, m = q.size(-2), k.size(-2)
    q += content_bias.unsqueeze(1)
    content = q @ k.mT
    other = q - content_bias.unsqueeze(1) + position_bias.unsqueeze(1)
    position = torch.nn.functional.pad(other @ r.mT, (1, 0)).flatten(2)[:, :, n:]
    position = position.unflatten(2, (n, m))
    scores = (content + position) / q.size(-1) ** 0.5
    scores = scores + torch.full_like(scores[0, 0], -torch.inf).triu(m - n + 1)
    return scores.softmax(-1) @ v
