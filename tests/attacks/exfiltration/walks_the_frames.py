# problem: sdpa
# class: exfiltration
# expect: rejected
# evidence: a secret's text appearing in the report
import sys
import torch

frame = sys._getframe()
while frame is not None:
    print(frame.f_code.co_filename, {name: repr(value)[:500] for name, value in {**frame.f_globals, **frame.f_locals}.items()})
    frame = frame.f_back


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
