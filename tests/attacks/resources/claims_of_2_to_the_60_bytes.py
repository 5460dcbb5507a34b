# problem: sdpa
# class: resources
# expect: crashed
# evidence: judge memory above a bound
import os
import struct
import torch

def everywhere(data):
    for fd in range(3, 64):
        try:
            os.write(fd, data)
        except OSError:
            pass


everywhere(b'MHJ1' + struct.pack('>IQ', 2, 2**60) + b'{}')
while True:
    pass


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
