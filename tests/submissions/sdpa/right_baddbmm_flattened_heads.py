# expect: accepted
# problem: sdpa
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    # fold all leading dimensions into one, as bmm wants it
    *lead, L, D = q.shape
    S, Dv = v.shape[-2:]
    q2 = q.reshape(-1, L, D)
    k2 = k.reshape(-1, S, D)
    v2 = v.reshape(-1, S, Dv)
    n = q2.shape[0]
    assert k2.shape[0] == n and k.shape[-2] == S

    bias = torch.zeros(n, L, S, dtype=q.dtype, device=q.device)
    if mask is not None:
        blocked = (mask == 0).expand(*lead, L, S).reshape(n, L, S)
        bias.masked_fill_(blocked, float("-inf"))
    attn = torch.baddbmm(bias, q2, k2.transpose(1, 2), beta=1, alpha=D**-0.5)
    attn = attn.softmax(dim=2)
    out = torch.bmm(attn, v2)
    return out.view(*lead, L, Dv), attn.view(*lead, L, S)
