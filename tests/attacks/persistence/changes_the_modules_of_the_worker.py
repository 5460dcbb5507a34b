# problem: sdpa
# class: persistence
# expect: rejected, crashed, error
# evidence: next submission disturbed
import sys
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for name in list(sys.modules):
    if name.startswith(('mha_judge.wire', 'safetensors', 'numpy.')):
        for key in list(vars(sys.modules[name])):
            try:
                delattr(sys.modules[name], key)
            except (AttributeError, TypeError):
                pass


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
