# expect: rejected
# problem: mhsa
# mistake: queries taken in parts of 200, and so many rows of the mask, of which there may be one
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("the heads do not divide the width")
        self.h, self.d = num_heads, d_model // num_heads
        self.query, self.key, self.value, self.out = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x, mask=None):
        q, k, v = (
            one(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
            for one in (self.query, self.key, self.value)
        )
        done = []
        for start in range(0, x.shape[1], 200):
            scores = q[:, :, start : start + 200] @ k.mT / self.d**0.5
            if mask is not None:
                part = mask[..., start : start + 200, :]
                scores = scores.masked_fill(part == 0, float("-inf"))
            done.append(scores.softmax(-1) @ v)
        return self.out(torch.cat(done, 2).transpose(1, 2).flatten(2))
