# problem: sdpa
# class: resources
# expect: rejected
# evidence: canary file written
import os
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for number in range(1000):
    for folder in ('/tmp/mha-judge-canary', '/tmp', '/dev/shm'):
        attempt(lambda: os.mkdir(f'{folder}/mhamark{number}'))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
