# problem: sdpa
# class: resources
# expect: rejected, timeout
# evidence: next submission disturbed
# limits: short
import threading
import torch

def spin():
    while True:
        pass


for _ in range(20):
    threading.Thread(target=spin, daemon=True).start()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
