# expect: rejected
# problem: sink-attention
# mistake: the fused kernel, with the sink as a key of zeros and a bias
# diagnosis: fused-attention
import torch
import torch.nn.functional as F


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    H, L, S = q.shape[1], q.shape[2], k.shape[2]
    if sinks.shape != (H,) or k.shape[2] != v.shape[2]:
        raise ValueError
    if q_weight is not None:
        q = F.rms_norm(q, q.shape[-1:], q_weight, 1e-6)
        k = F.rms_norm(k, k.shape[-1:], k_weight, 1e-6)
    gap = torch.arange(S - L, S)[:, None] - torch.arange(S)
    hidden = (gap < 0) | (gap >= (S if window is None else window))
    bias = torch.zeros(H, L, S, dtype=q.dtype).masked_fill(hidden, float("-inf"))
    bias = torch.cat([bias, sinks.view(H, 1, 1).expand(H, L, 1)], -1)
    k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True)
