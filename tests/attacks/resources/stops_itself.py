# problem: sdpa
# class: resources
# expect: timeout, crashed
# evidence: changed verdict
# limits: short
import os
import signal
import torch

os.kill(os.getpid(), signal.SIGSTOP)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
