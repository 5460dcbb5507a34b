# problem: sdpa
# class: resources
# expect: rejected, timeout
# evidence: next submission disturbed
# limits: short
import os
import threading
import torch

def flood():
    data = b'x' * 65536
    while True:
        os.write(2, data)


for _ in range(3):
    threading.Thread(target=flood, daemon=True).start()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
