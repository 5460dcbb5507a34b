# problem: sdpa
# class: tensors
# expect: rejected, accepted
# evidence: changed verdict
# why: each value is right when it is sent, and a copy crosses
import torch

BUFFER = {}


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float('-inf'))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    if output.requires_grad:
        return output, weights
    kept = BUFFER.setdefault((output.shape, output.dtype), torch.empty_like(output))
    kept.copy_(output)
    return kept, weights
