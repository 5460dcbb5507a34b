# problem: sdpa
# class: exfiltration
# expect: rejected
# evidence: a secret's text appearing in the report
import os
import random
import sys
import numpy
import torch

print(torch.initial_seed(), random.getstate()[1][:3], numpy.random.get_state()[1][:3])
print(sys.argv, sys.orig_argv, os.getcwd(), sys.flags, sys.path)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
