# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import mha_judge.worker.serve as serve
import torch

serve.pull_back = lambda result, cotangents, inputs, model, again: {"inputs": dict.fromkeys(inputs), "parameters": {}}


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
