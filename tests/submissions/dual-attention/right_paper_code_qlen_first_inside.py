# expect: accepted
# problem: dual-attention
# the shift as the authors wrote it, for (qlen, klen, bsz, n_head)
import torch
import torch.nn.functional as F


def _rel_shift(x):
    zero_pad = torch.zeros((x.size(0), 1, *x.size()[2:]), device=x.device, dtype=x.dtype)
    x_padded = torch.cat([zero_pad, x], dim=1)
    x_padded = x_padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])
    return x_padded[1:].view_as(x)


def rel_attn_core(w_head_q, w_head_k, w_head_v, r_head_k, r_w_bias, r_r_bias):
    qlen, klen = w_head_q.size(2), w_head_k.size(2)
    if r_head_k.size(1) != klen or w_head_v.size(2) != klen:
        raise ValueError("rlen, klen and vlen differ")
    q, k, v = (one.permute(2, 0, 1, 3) for one in (w_head_q, w_head_k, w_head_v))
    r = r_head_k.permute(1, 0, 2)  # klen x n_head x d_head
    rw_head_q = q + r_w_bias
    AC = torch.einsum("ibnd,jbnd->ijbn", (rw_head_q, k))
    rr_head_q = q + r_r_bias
    BD = torch.einsum("ibnd,jnd->ijbn", (rr_head_q, r))
    BD = _rel_shift(BD)
    attn_score = (AC + BD) * (1 / (q.size(-1) ** 0.5))
    dec_attn_mask = torch.triu(torch.ones(qlen, klen, device=q.device), diagonal=1 + klen - qlen)
    attn_score = attn_score.masked_fill(dec_attn_mask.bool()[:, :, None, None], -1e30)
    attn_prob = F.softmax(attn_score, dim=1).type_as(v)
    return torch.einsum("ijbn,jbnd->ibnd", (attn_prob, v)).permute(1, 2, 0, 3)
