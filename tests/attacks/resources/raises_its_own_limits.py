# problem: sdpa
# class: resources
# expect: rejected
# evidence: changed verdict
import ctypes
import os
import resource
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for name in ('AS', 'CPU', 'NOFILE', 'FSIZE', 'NPROC'):
    limit = getattr(resource, 'RLIMIT_' + name)
    attempt(lambda: resource.setrlimit(limit, (-1, -1)))
    attempt(lambda: resource.prlimit(os.getppid(), limit, (0, 0)))
attempt(lambda: os.nice(-20))
attempt(lambda: os.sched_setaffinity(0, {0}))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
