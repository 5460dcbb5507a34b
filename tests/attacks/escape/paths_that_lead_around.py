# problem: sdpa
# class: escape
# expect: rejected
# evidence: a secret's text appearing in the report
# unconfined: shows
import os
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for path in ('/usr/lib/../../tmp/mha-judge-secret', '/proc/self/root/tmp/mha-judge-secret', '/proc/self/cwd/tmp/mha-judge-secret', '/dev/fd/../../../tmp/mha-judge-secret', '/proc/thread-self/root/tmp/mha-judge-secret'):
    attempt(lambda: open(path).read())
folder = os.open('/usr/lib', os.O_RDONLY | os.O_DIRECTORY)
attempt(lambda: open(os.open('../../tmp/mha-judge-secret', os.O_RDONLY, dir_fd=folder)).read())
attempt(lambda: os.fchdir(folder))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
