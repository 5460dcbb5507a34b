# problem: sdpa
# right: recursion that peels off one leading dimension at a time down to plain matrices
import torch


def _matrix(q, k, v, keep):
    s = torch.mm(q, k.t()) * (1.0 / q.shape[1] ** 0.5)
    if keep is not None:
        s[~keep] = -1e9  # s is ours, nobody else sees it
    w = torch.softmax(s, 1)
    return torch.mm(w, v), w


def _descend(q, k, v, keep):
    if q.dim() == 2:
        return _matrix(q, k, v, keep)
    pairs = [
        _descend(q[i], k[i], v[i], None if keep is None else keep[i]) for i in range(q.shape[0])
    ]
    return torch.stack([o for o, _ in pairs]), torch.stack([w for _, w in pairs])


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[:-2] != k.shape[:-2] or k.shape[:-1] != v.shape[:-1] or q.shape[-1] != k.shape[-1]:
        raise ValueError("sizes of q, k and v do not fit")
    keep = None
    if mask is not None:
        keep = mask.bool().expand(q.shape[:-1] + k.shape[-2:-1])
    return _descend(q, k, v, keep)
