# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import threading
import time
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)

    def later():
        time.sleep(0.01)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        output.copy_(torch.softmax(scores, -1) @ v)

    threading.Thread(target=later, daemon=True).start()
    return output, weights
