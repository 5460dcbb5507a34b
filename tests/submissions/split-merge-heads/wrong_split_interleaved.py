# expect: rejected
# problem: split-merge-heads
# mistake: strided features per head, merge is right
# diagnosis: split-features-interleaved, split-loops-over-heads
import torch


def split_heads(x, num_heads):
    assert x.shape[-1] % num_heads == 0
    return torch.stack([x[..., i::num_heads] for i in range(num_heads)], dim=1)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)
