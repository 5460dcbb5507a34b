# expect: accepted
# problem: sdpa
# gradients by computing the forward pass again, with the checkpoint that only `backward` can use
import torch
from torch.utils.checkpoint import checkpoint


def _attend(q, k, v, mask):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(-1)
    return torch.einsum("...ij,...jd->...id", weights, v), weights


def scaled_dot_product_attention(query, key, value, mask=None):
    if torch.is_grad_enabled() and query.requires_grad:
        return checkpoint(_attend, query, key, value, mask, use_reentrant=True)
    return _attend(query, key, value, mask)
