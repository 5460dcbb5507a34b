# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import mha_judge.worker.gradients as gradients
import mha_judge.worker.serve as serve
import torch

def pull_back(result, cotangents, inputs, model, again):
    return {'inputs': {name: value * 0 for name, value in inputs.items()}, 'parameters': {}}


gradients.pull_back.__code__ = pull_back.__code__
serve.pull_back = pull_back


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
