# problem: sdpa
# class: resources
# expect: timeout, crashed
# evidence: changed verdict
# limits: short
import re
import torch

# one call into C that holds the interpreter's lock
re.match(r'(a|aa)+$', 'a' * 64 + 'b')


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
