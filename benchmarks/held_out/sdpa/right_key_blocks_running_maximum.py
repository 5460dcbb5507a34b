# problem: sdpa
# right: keys in blocks of 96 with a running maximum and sum (as in flash attention), weights in a second pass
import torch

BLOCK = 96


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k have different widths")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v have different lengths")
    dtype = q.dtype
    acc = torch.float64 if dtype == torch.float64 else torch.float32
    qs = q.to(acc) * q.shape[-1] ** -0.5
    length = k.shape[-2]
    keep = None if mask is None else (mask != 0).expand(*q.shape[:-1], length)

    scores, peak = [], None
    for start in range(0, length, BLOCK):
        stop = min(start + BLOCK, length)
        s = qs @ k[..., start:stop, :].to(acc).transpose(-1, -2)
        if keep is not None:
            s = torch.where(keep[..., start:stop], s, s.new_tensor(-1e30))
        scores.append(s)
        block_peak = s.detach().amax(dim=-1, keepdim=True)
        peak = block_peak if peak is None else torch.maximum(peak, block_peak)

    total, out, parts = 0, 0, []
    for n, s in enumerate(scores):
        e = torch.exp(s - peak)
        total = total + e.sum(dim=-1, keepdim=True)
        out = out + e @ v[..., n * BLOCK:(n + 1) * BLOCK, :].to(acc)
        parts.append(e)
    weights = torch.cat(parts, dim=-1) / total
    return (out / total).to(dtype), weights.to(dtype)
