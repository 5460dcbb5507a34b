# expect: accepted
# problem: linear-attention
import torch


def kernelized_attention(q, k, v, causal: bool = False, return_state: bool = False):
    """(N, L, H, D) inside, sums in float32 or better, as the reference kernels do."""
    dtype = q.dtype
    acc = torch.promote_types(dtype, torch.float32)
    q, k, v = (t.permute(0, 2, 1, 3).to(acc) for t in (q, k, v))
    q = torch.nn.functional.elu(q).add(1)
    k = torch.nn.functional.elu(k).add(1)
    kv = torch.einsum("nlhd,nlhm->nlhmd", k, v)
    total = k
    if causal:
        kv, total = kv.cumsum(1), total.cumsum(1)
    else:
        kv, total = kv.sum(1, keepdim=True), total.sum(1, keepdim=True)
    z = 1 / (q * total).sum(-1)
    out = torch.einsum("nlhd,nlhmd,nlh->nlhm", q, kv.expand(-1, q.shape[1], -1, -1, -1), z)
    out = out.permute(0, 2, 1, 3).to(dtype)
    return (out, kv[:, -1]) if return_state else out
