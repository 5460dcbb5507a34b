# problem: sdpa
# class: tensors
# expect: rejected, accepted
# evidence: changed verdict
# why: a race in a right answer: what is graded is the copy that crossed
# limits: short
import threading
import torch

KEPT = []


def spoil():
    while True:
        for tensor in KEPT:
            tensor.fill_(7.0)


threading.Thread(target=spoil, daemon=True).start()


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float('-inf'))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    if not output.requires_grad:
        KEPT.append(output)
    return output, weights
