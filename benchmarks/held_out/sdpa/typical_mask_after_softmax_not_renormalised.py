# problem: sdpa
# wrong: the mask belongs before the softmax and each row of weights sums to 1; here weights are zeroed afterwards, in every call that blocks a key
# needs: mask
import math
import torch
import torch.nn.functional as F

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    output = torch.matmul(weights, v)
    return output, weights
