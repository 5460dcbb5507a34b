# expect: rejected
# problem: flash-attention
# mistake: tril() of the block's own shape
# diagnosis: causal-within-block
import torch
import torch.nn.functional as F


class FlashAttention:
    def __call__(self, q, k, v, block_size, causal=False):
        if block_size < 1 or k.size(2 - 4) != v.size(-2):
            raise ValueError
        m = torch.full(q.shape[:-1] + (1,), -torch.inf, dtype=q.dtype)
        l = torch.zeros_like(m)
        o = torch.zeros(q.shape[:-1] + v.shape[-1:], dtype=q.dtype)
        for i in range(-(-k.size(-2) // block_size)):
            ks, vs = (t[..., i * block_size : (i + 1) * block_size, :] for t in (k, v))
            s = torch.matmul(q, ks.transpose(-1, -2)).div(q.size(-1) ** 0.5)
            if causal:
                s = s.masked_fill(torch.ones_like(s).tril() == 0, -torch.inf)
            m_ = torch.maximum(m, s.max(-1, keepdim=True).values)
            o = o * (m - m_).exp() + (s - m_).exp() @ vs
            l = l * (m - m_).exp() + (s - m_).exp().sum(-1, keepdim=True)
            m = m_
        return o / l
