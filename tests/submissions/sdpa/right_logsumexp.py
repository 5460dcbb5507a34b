# expect: accepted
# problem: sdpa
import torch


class Attention:
    """Not a module: nothing to learn here."""

    def __call__(self, q, k, v, mask=None):
        scores = torch.matmul(q, k.swapaxes(-1, -2)).div(k.shape[-1] ** 0.5)
        if mask is not None:
            scores = scores + (1.0 - mask.to(scores.dtype)) * torch.finfo(scores.dtype).min / 4
        log_w = scores - torch.logsumexp(scores, dim=-1, keepdim=True)
        w = log_w.exp()
        return w.matmul(v), w
