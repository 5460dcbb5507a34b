# problem: sdpa
# class: resources
# expect: rejected, error, crashed
# evidence: next submission disturbed
# limits: short
import threading
import torch

STOP = threading.Event()


def scaled_dot_product_attention(q, k, v, mask=None):
    for _ in range(2000):
        threading.Thread(target=STOP.wait, daemon=True).start()
    return torch.zeros(1)
