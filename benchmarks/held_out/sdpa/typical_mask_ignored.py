# problem: sdpa
# wrong: a blocked key gets weight 0; here the mask is accepted and never used
# needs: mask
import numpy as np
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """Compute attention.

    Args:
        mask: optional attention mask
    """
    logits = q.matmul(k.transpose(-2, -1)) / float(np.sqrt(q.shape[-1]))
    weights = logits.softmax(dim=-1)
    return weights.matmul(v), weights
