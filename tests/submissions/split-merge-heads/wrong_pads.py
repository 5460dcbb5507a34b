# expect: rejected
# problem: split-merge-heads
# mistake: zero features added where E does not divide
# diagnosis: split-pads
import torch.nn.functional as F


def split_heads(x, num_heads):
    x = F.pad(x, (0, -x.shape[-1] % num_heads))
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
