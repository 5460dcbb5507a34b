# problem: sdpa
# class: escape
# expect: rejected
# evidence: a secret's text appearing in the report
# unconfined: shows
import glob
import os
import sys
import mha_judge
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


root = os.path.dirname(os.path.dirname(os.path.dirname(mha_judge.__file__)))
for path in (root, '/tmp/mha-judge-bank', os.path.join(sys.prefix, 'share/mha-judge')):
    attempt(lambda: os.listdir(path))
    for name in ('graders/test_sdpa.py', 'reference/sdpa.py', 'problems/sdpa/problem.toml'):
        attempt(lambda: open(os.path.join(path, name)).read())
    attempt(lambda: glob.glob(path + '/**/*.py', recursive=True)[:9])


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
