# problem: sdpa
# class: resources
# expect: rejected
# evidence: canary file written
# unconfined: shows
import os
import tempfile
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


def fill(path):
    with open(path, 'wb') as file:
        for _ in range(64):
            file.write(bytes(1 << 20))


for folder in ('/tmp/mha-judge-canary', '/tmp', '/var/tmp', '/dev/shm', '.', os.path.expanduser('~')):
    attempt(lambda: fill(f'{folder}/mhamark'))
attempt(tempfile.mkdtemp)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
