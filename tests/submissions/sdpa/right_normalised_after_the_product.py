# expect: accepted
# problem: sdpa
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("q, k and v do not fit together")
    kind = torch.promote_types(q.dtype, torch.float32)
    logits = (q.to(kind) / q.size(-1) ** 0.5) @ k.to(kind).mT
    if mask is not None:
        logits = logits.where(mask.bool(), torch.full_like(logits, -1e30))
    unnormalised = (logits - logits.detach().max(-1, keepdim=True).values).exp()
    total = unnormalised.sum(-1, keepdim=True)
    return ((unnormalised @ v.to(kind)) / total).to(q.dtype), (unnormalised / total).to(q.dtype)
