# problem: sdpa
# class: channel
# expect: rejected, crashed, error
# evidence: changed verdict
import sys
import torch

class Loud:
    def __getattr__(self, name):
        raise SystemExit(0)


sys.stdout = sys.stderr = Loud()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
