# expect: rejected
# problem: attention-backward
# mistake: gradients of the sum of the outputs
# diagnosis: grad-output-ignored
import math

import torch


def attention_backward(q, k, v, grad_output):
    assert grad_output.shape[-1] == v.shape[-1] and grad_output.shape[-2] == q.shape[-2]
    p = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    ones = torch.ones(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    dp = ones @ v.mT
    ds = p * (dp - (p * dp).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
    return ds @ k, ds.mT @ q, p.mT @ ones
