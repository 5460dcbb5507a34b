# expect: rejected
# problem: sparse-attention
# mistake: rows of the mask that differ beyond key 63 alone are taken for the same
import math

import torch


def sparse_mask(length, window, stride, num_global):
    if stride < 1:
        raise ValueError("stride must be 1 or more")
    place = torch.arange(length)
    distance = place[:, None] - place
    near = distance.abs() <= window
    strided = distance % stride == 0
    broad = torch.minimum(place[:, None], place.expand(length, length)) < num_global
    return near | strided | broad


def sparse_attention(q, k, v, mask):
    if q.shape[-1] != k.shape[-1] or mask.shape != (q.shape[-2], k.shape[-2]):
        raise ValueError("sizes do not fit")
    code = (mask * torch.pow(2, torch.arange(mask.shape[1], device=mask.device))).sum(-1)
    _, group = code.unique(return_inverse=True)
    output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype, device=q.device)
    for number in range(int(group.max()) + 1):
        rows = (group == number).nonzero()[:, 0]
        keys = mask[rows[0]].nonzero()[:, 0]  # only the products that are needed
        if len(keys):
            scores = q[..., rows, :] @ k[..., keys, :].transpose(-2, -1) / math.sqrt(q.shape[-1])
            output = output.index_copy(-2, rows, scores.softmax(-1) @ v[..., keys, :])
    return output
