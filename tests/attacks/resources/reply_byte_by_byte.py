# problem: sdpa
# class: resources
# expect: timeout, crashed
# evidence: next submission disturbed
# limits: short
import os
import struct
import time
import torch

def everywhere(data):
    for fd in range(3, 64):
        try:
            os.write(fd, data)
        except OSError:
            pass


for byte in b'MHJ1' + struct.pack('>IQ', 5000, 0) + b'{' * 5000:
    everywhere(bytes([byte]))
    time.sleep(0.001)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
