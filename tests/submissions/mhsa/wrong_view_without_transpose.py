# expect: rejected
# problem: mhsa
# mistake: view straight to (B·H, L, D), and back
# diagnosis: view-both-ways
import torch
import torch.nn as nn


class MHSA(nn.Module):
    def __init__(self, model_dim, num_heads):
        super().__init__()
        self.dim_per_head = model_dim // num_heads
        assert self.dim_per_head * num_heads == model_dim
        self.num_heads = num_heads
        self.linear_q = nn.Linear(model_dim, model_dim)
        self.linear_k = nn.Linear(model_dim, model_dim)
        self.linear_v = nn.Linear(model_dim, model_dim)
        self.linear_final = nn.Linear(model_dim, model_dim)

    def forward(self, x, mask=None):
        batch_size, length, width = x.shape
        query, key, value = self.linear_q(x), self.linear_k(x), self.linear_v(x)
        query = query.view(batch_size * self.num_heads, -1, self.dim_per_head)
        key = key.view(batch_size * self.num_heads, -1, self.dim_per_head)
        value = value.view(batch_size * self.num_heads, -1, self.dim_per_head)
        scores = torch.bmm(query, key.transpose(1, 2)) * self.dim_per_head**-0.5
        if mask is not None:
            mask = mask.expand(batch_size, self.num_heads, length, length)
            scores = scores.masked_fill(mask.reshape(scores.shape) == 0, float("-inf"))
        context = torch.bmm(scores.softmax(2), value)
        return self.linear_final(context.view(batch_size, -1, width))
