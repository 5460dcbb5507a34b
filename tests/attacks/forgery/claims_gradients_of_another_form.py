# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import mha_judge.worker.serve as serve
import torch

plain = serve.pull_back
FORMS = [{"inputs": {}, "parameters": {}}, {"inputs": {0: torch.zeros(1), 1: None, 2: torch.zeros(2**10, 1)}, "parameters": {"x": None}}, {"inputs": [1], "parameters": 3}, None]


def forged(*arguments):
    FORMS.append(FORMS.pop(0))
    return FORMS[0]


serve.pull_back = forged


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
