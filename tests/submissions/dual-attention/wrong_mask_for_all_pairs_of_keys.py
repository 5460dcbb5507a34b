# expect: rejected
# problem: dual-attention
# mistake: the causal mask is made for S × S pairs
# diagnosis: tensor-too-large
import math

import torch
import torch.nn.functional as F


def dual_attention(q, k, v, r, content_bias, position_bias):
    B, H, L, D = q.shape
    S = k.shape[2]
    if k.shape[3] != D or r.shape[2] != D:
        raise ValueError("q, k and r must have one width")
    if v.shape[2] != S or r.shape[1] != S:
        raise ValueError("k, v and r must have one length")
    dtype = q.dtype
    if dtype in (torch.bfloat16, torch.float16):
        q, k, v, r, content_bias, position_bias = (t.float() for t in (q, k, v, r, content_bias, position_bias))
    content = torch.matmul(q + content_bias[:, None], k.transpose(-2, -1))
    position = torch.matmul(q + position_bias[:, None], r.transpose(-2, -1))
    # shift row i by L - 1 - i places to the left: pad one column, read it with rows of another length
    position = F.pad(position, (1, 0)).reshape(B, H, S + 1, L)[:, :, 1:].reshape(B, H, L, S)
    scores = (content + position) / math.sqrt(D)
    visible = torch.ones(S, S, dtype=torch.bool, device=q.device).tril()[S - L :]
    scores = scores.masked_fill(~visible, float("-inf"))
    return torch.matmul(torch.softmax(scores, dim=-1), v).to(dtype)
