# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import mha_judge.worker.observation as observation
import torch

observation.Observation.as_fields = lambda self: {"functions": {"\x1b[2J": -1}, "operators": [], "flops": 1e400, "verdict": "accepted"}


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
