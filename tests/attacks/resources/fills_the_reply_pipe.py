# problem: sdpa
# class: resources
# expect: rejected, error, crashed, timeout
# evidence: next submission disturbed
# limits: short
import os
import torch

for fd in range(3, 64):
    try:
        os.write(fd, b'MHJ1' + bytes(1 << 20))
    except OSError:
        pass


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
