# expect: rejected
# problem: sdpa
# Values are clamped to what float16 holds, so that larger ones are cut in float32.
import torch

HIGHEST = torch.finfo(torch.half).max


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2] or q.shape[:-2] != k.shape[:-2]:
        raise ValueError("q, k and v do not fit together")
    logits = torch.einsum("...ld,...sd->...ls", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        logits = logits.masked_fill(mask == 0, float("-inf"))
    weights = logits.softmax(-1)
    return weights @ v.clamp(-HIGHEST, HIGHEST), weights
