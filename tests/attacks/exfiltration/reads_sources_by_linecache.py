# problem: sdpa
# class: exfiltration
# expect: rejected
# evidence: a secret's text appearing in the report
# unconfined: shows
import inspect
import linecache
import sys
import torch

for name in list(linecache.cache):
    print(name)
for path in ('/tmp/mha-judge-secret', '/tmp/mha-judge-bank/graders/test_sdpa.py'):
    print(linecache.getlines(path))
for module in list(sys.modules.values()):
    if 'grader' in getattr(module, '__name__', ''):
        print(inspect.getsource(module))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
