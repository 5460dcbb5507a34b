# expect: rejected
# problem: sdpa
# mistake: exp overflows at large logits
# diagnosis: no-max-subtraction
import torch


def softmax(x):
    e = torch.exp(x)
    return e / e.sum(-1, keepdim=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    A = softmax(scores)
    return A @ V, A
