# problem: sdpa
# wrong: a 2-D mask is (L, S) for all batches; here it is read as (B, S) when its first size equals B, so wrong when L = B
# needs: mask
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        if mask.dim() == 2 and q.dim() == 4 and mask.size(0) == q.size(0) > 1:
            mask = mask.unsqueeze(1).unsqueeze(2)   # padding mask (B, S) -> (B, 1, 1, S)
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
