# problem: sdpa
# class: escape
# expect: rejected
# evidence: a secret's text appearing in the report
import os
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for pid in [1, os.getppid(), os.getpid(), *range(2, 40)]:
    for name in ('environ', 'cmdline', 'maps', 'mem', 'root', 'cwd', 'fd', 'stack', 'auxv'):
        try:
            with open(f'/proc/{pid}/{name}', 'rb') as file:
                print(file.read(2000))
        except (OSError, ValueError):
            pass
attempt(lambda: os.listdir('/proc'))
attempt(lambda: os.listdir('/proc/1/root'))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
