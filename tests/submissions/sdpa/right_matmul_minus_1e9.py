# expect: accepted
# problem: sdpa
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value, mask=None):
    """The version everybody learns first."""
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / torch.sqrt(torch.tensor(d_k, dtype=query.dtype))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    attn = F.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn
