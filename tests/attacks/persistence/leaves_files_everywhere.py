# problem: sdpa
# class: persistence
# expect: rejected
# evidence: canary file written
# unconfined: shows
import os
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for folder in ('/tmp/mha-judge-canary', '/tmp', '/var/tmp', '/run', '/dev/shm', '/dev/mqueue', os.path.expanduser('~'), '/root', '/'):
    attempt(lambda: open(os.path.join(folder, 'mhamark'), 'w').write('x'))
    attempt(lambda: os.mkdir(os.path.join(folder, 'mhamark-folder')))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
