# expect: rejected
# problem: dual-attention
# mistake: triu(1), which takes the first query for position 0 of the memory
# diagnosis: mask-top-left
import torch
from torch.nn.functional import pad, softmax


class DualAttention:
    def __call__(self, q, k, v, r, content_bias, position_bias):
        if k.size(2) != r.size(1):
            raise ValueError("k and r differ in length")
        content = torch.einsum("bhqd,bhkd->bhqk", q + content_bias[:, None], k)
        position = self.shift(torch.einsum("bhqd,hkd->bhqk", q + position_bias[:, None], r))
        scores = (content + position) * q.size(-1) ** -0.5
        mask = torch.triu(torch.ones(scores.shape[-2:], device=q.device), 1).bool()
        return softmax(scores.masked_fill(mask, -1e9), -1) @ v

    def shift(self, x):
        b, h, q, k = x.shape
        return pad(x, (1, 0)).view(b, h, k + 1, q)[:, :, 1:].reshape(b, h, q, k)
