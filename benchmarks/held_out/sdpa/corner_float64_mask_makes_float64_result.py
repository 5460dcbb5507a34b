# problem: sdpa
# wrong: the result has the dtype of the input; here a float64 mask turns float32 scores, weights and output into float64
# needs: mask
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    assert q.size(-1) == k.size(-1), "q/k width"
    assert k.size(-2) == v.size(-2), "k/v length"
    scores = torch.matmul(q, k.transpose(-2, -1)) / (q.size(-1) ** 0.5)
    if mask is not None:
        if not mask.is_floating_point():
            mask = mask.to(scores.dtype)
        scores = scores - 1e9 * (1 - mask)
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, v.to(weights.dtype)), weights
