# problem: sdpa
# class: forgery
# expect: error, rejected, crashed
# evidence: changed verdict
import mha_judge.worker.submission as worker
import torch

LIE = {'kind': 'function', 'own': True, 'call': [{'name': '\x1b[2J' * 9, 'kind': 'var_keyword', 'required': True}] * 3}
worker.definitions = lambda module: {'scaled_dot_product_attention': LIE, '': LIE, 'x' * 200: LIE}


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
