# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import mha_judge.worker.serve as serve
import torch

plain = serve.pack


def forged(value, strides=False):
    if isinstance(value, dict) and "inputs" in value:
        value["inputs"] = ([[torch.zeros(1)] * 5, None, "x"], {"mask": [[[]]]})
    return plain(value, strides)


serve.pack = forged


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
