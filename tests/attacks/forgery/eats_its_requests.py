# problem: sdpa
# class: forgery
# expect: timeout, crashed, rejected
# evidence: changed verdict
# limits: short
import os
import threading
import torch

def eat():
    for fd in range(3, 64):
        try:
            while os.read(fd, 1 << 20):
                pass
        except OSError:
            pass


threading.Thread(target=eat, daemon=True).start()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
