# problem: sdpa
# class: resources
# expect: rejected
# evidence: canary file written
import os
from multiprocessing import shared_memory
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


attempt(lambda: os.write(os.memfd_create('x'), b'x' * 100))
attempt(lambda: shared_memory.SharedMemory('mhamark', create=True, size=1 << 20))
attempt(lambda: open('/dev/shm/mhamark', 'w').write('x'))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
