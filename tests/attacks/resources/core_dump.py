# problem: sdpa
# class: resources
# expect: crashed
# evidence: canary file written
import os
import resource
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)))
attempt(lambda: os.chdir('/tmp/mha-judge-canary'))
os.abort()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
