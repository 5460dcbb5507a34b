# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import mha_judge.wire as wire
import mha_judge.worker.serve as serve
import torch

def forged(value, strides=False):
    return ['dict', [[['str', 'value'], ['opaque', 'accepted']]]], b''


serve.pack = wire.pack = forged


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
