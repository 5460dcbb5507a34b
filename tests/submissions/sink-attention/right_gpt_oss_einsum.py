# expect: accepted
# problem: sink-attention
import math

import torch


def rms(x, scale, eps=1e-6):
    dtype = x.dtype
    t = x.float() if x.dtype.itemsize < 4 else x
    t = t * torch.rsqrt(torch.mean(t**2, dim=-1, keepdim=True) + eps)
    return (t * scale).to(dtype)


def sdpa_with_sinks(Q, K, V, S, sliding_window=None, q_norm=None, k_norm=None):
    """As in gpt-oss: heads in two axes, two triangles, the sink as one more column."""
    if q_norm is not None:
        Q, K = rms(Q, q_norm), rms(K, k_norm)
    B, n_heads, n_q, d_head = Q.shape
    n_kv, n_k = K.shape[1], K.shape[2]
    assert V.shape[:3] == (B, n_kv, n_k) and n_heads % n_kv == 0 and S.shape == (n_heads,)
    Q = Q.reshape(B, n_kv, n_heads // n_kv, n_q, d_head)
    S = S.reshape(1, n_kv, n_heads // n_kv, 1, 1).expand(B, -1, -1, n_q, -1)
    mask = torch.triu(Q.new_full((n_q, n_k), -float("inf")), diagonal=1 + n_k - n_q)
    if sliding_window is not None:
        far = torch.full_like(mask, -float("inf"))
        mask = mask + torch.tril(far, diagonal=n_k - n_q - sliding_window)
    QK = torch.einsum("bhmqd,bhkd->bhmqk", Q, K)
    QK *= 1 / math.sqrt(d_head)
    QK += mask
    W = torch.softmax(torch.cat([QK, S], dim=-1), dim=-1)[..., :-1]
    return torch.einsum("bhmqk,bhkd->bhmqd", W, V).reshape(B, n_heads, n_q, d_head)
