# expect: accepted
# problem: flash-attention
# query tiles of a size of their own outside, keys inside, stops at the diagonal; returns the lse too
import math

import torch
from einops import einsum


def flash_attention_v2(query, key, value, kv_block_size, is_causal=False, q_block_size=16):
    *batch, n_q, d = query.shape
    n_k = key.size(-2)
    if key.size(-1) != d or value.size(-2) != n_k or kv_block_size < 1:
        raise ValueError("shapes do not fit")

    outputs, lses = [], []
    for q0 in range(0, n_q, q_block_size):
        q_tile = query[..., q0 : q0 + q_block_size, :]
        rows = torch.arange(q0, q0 + q_tile.size(-2), device=query.device)
        m = l = acc = None
        for k0 in range(0, n_k, kv_block_size):
            if is_causal and k0 > rows[-1]:
                break
            k_tile = key[..., k0 : k0 + kv_block_size, :]
            v_tile = value[..., k0 : k0 + kv_block_size, :]
            s = einsum(q_tile, k_tile, "... q d, ... k d -> ... q k") / math.sqrt(d)
            if is_causal:
                cols = torch.arange(k0, k0 + k_tile.size(-2), device=query.device)
                s = torch.where(rows[:, None] >= cols[None, :], s, torch.finfo(s.dtype).min)
            m_new = s.max(dim=-1, keepdim=True).values
            if m is not None:
                m_new = torch.maximum(m, m_new)
            p = (s - m_new).exp()
            pv = einsum(p, v_tile, "... q k, ... k e -> ... q e")
            if m is None:
                l, acc = p.sum(-1, keepdim=True), pv
            else:
                alpha = (m - m_new).exp()
                l = alpha * l + p.sum(-1, keepdim=True)
                acc = alpha * acc + pv
            m = m_new
        outputs.append(acc / l)
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outputs, -2), torch.cat(lses, -1)
