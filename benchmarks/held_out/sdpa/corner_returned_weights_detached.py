# problem: sdpa
# wrong: gradients flow back through the returned weights, too; here they are detached from the graph
# needs: weights
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    out = weights @ v
    return out, weights.detach()   # only for plotting
