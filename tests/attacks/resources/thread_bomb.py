# problem: sdpa
# class: resources
# expect: rejected, error, crashed, timeout
# evidence: next submission disturbed
# limits: short
import threading
import torch

STOP = threading.Event()
try:
    while True:
        threading.Thread(target=STOP.wait, daemon=True).start()
except (RuntimeError, MemoryError):
    pass


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
