# problem: sdpa
# class: tensors
# expect: accepted
# evidence: next submission disturbed
# why: the answer is right; the judge draws its inputs elsewhere
import random
import numpy
import torch

torch.manual_seed(0)
random.seed(0)
numpy.random.seed(0)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float('-inf'))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    torch.manual_seed(0)
    return output, weights
