# expect: accepted
# problem: sdpa
# Without gradients the scores are made in a buffer that all calls share; results are of their own.
import math

import torch


class ScaledDotProductAttention:
    def __init__(self):
        self._scratch = None

    def _room(self, shape, like):
        size = math.prod(shape)
        kept = self._scratch
        if kept is None or kept.dtype != like.dtype or kept.numel() < size:
            with torch.inference_mode(False):
                self._scratch = kept = torch.empty(size, dtype=like.dtype)
        return kept[:size].view(shape)

    def __call__(self, q, k, v, mask=None):
        if k.shape[-2] != v.shape[-2]:
            raise ValueError("keys and values must be equally many")
        scale = math.sqrt(q.shape[-1])
        if torch.is_grad_enabled():
            scores = q @ k.mT / scale
        else:
            room = self._room((*q.shape[:-1], k.shape[-2]), q)
            scores = torch.matmul(q, k.mT, out=room).div_(scale)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
