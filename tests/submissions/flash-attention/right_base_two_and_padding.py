# expect: accepted
# problem: flash-attention
# as the GPU kernels do it: base 2, keys padded to whole blocks and masked away
import torch
import torch.nn.functional as F

LOG2E = 1.4426950408889634


def flash_attn(q, k, v, block_n, is_causal=False, softmax_scale=None):
    if block_n < 1:
        raise ValueError("block_n")
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("bad shapes")
    seqlen_q, seqlen_k = q.size(-2), k.size(-2)
    pad = (block_n - seqlen_k % block_n) % block_n
    k, v = F.pad(k, (0, 0, 0, pad)), F.pad(v, (0, 0, 0, pad))
    qk_scale = (softmax_scale or q.size(-1) ** -0.5) * LOG2E

    offs_m = torch.arange(seqlen_q, device=q.device)[:, None]
    offs_n = torch.arange(block_n, device=q.device)[None, :]
    m_i = torch.full((*q.shape[:-1],), float("-inf"), dtype=q.dtype, device=q.device)
    l_i = torch.zeros_like(m_i)
    acc = torch.zeros((*q.shape[:-1], v.size(-1)), dtype=q.dtype, device=q.device)
    for start_n in range(0, seqlen_k, block_n):
        kk = k.narrow(-2, start_n, block_n)
        qk = torch.matmul(q, kk.transpose(-1, -2)) * qk_scale
        keep = start_n + offs_n < seqlen_k
        if is_causal:
            keep = keep & (offs_m >= start_n + offs_n)
        qk = qk.masked_fill(~keep, float("-inf"))
        m_ij = torch.maximum(m_i, qk.amax(-1))
        p = torch.exp2(qk - m_ij[..., None])
        alpha = torch.exp2(m_i - m_ij)
        l_i = l_i * alpha + p.sum(-1)
        acc = acc * alpha[..., None] + torch.matmul(p, v.narrow(-2, start_n, block_n))
        m_i = m_ij
    return acc / l_i[..., None]
