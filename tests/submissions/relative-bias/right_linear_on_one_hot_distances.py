# expect: accepted
# problem: relative-bias
# The table is a Linear that takes one-hot distances.
import torch
from torch import nn
import torch.nn.functional as F


class RelativeAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_distance):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads, self.R = num_heads, 2 * max_distance + 1
        self.Q, self.K, self.V, self.O = (nn.Linear(d_model, d_model) for _ in range(4))
        self.bias = nn.Linear(self.R, num_heads, bias=False)

    def forward(self, x):
        B, L, E = x.shape
        m = self.R // 2
        r = torch.arange(L, device=x.device)
        onehot = F.one_hot((r[None] - r[:, None]).clamp(-m, m) + m, self.R).to(x.dtype)
        b = self.bias(onehot).permute(2, 0, 1)
        q, k, v = (t.view(B, L, self.num_heads, -1).transpose(1, 2) for t in (self.Q(x), self.K(x), self.V(x)))
        s = q @ k.transpose(2, 3) / (E // self.num_heads) ** 0.5 + b
        return self.O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E))
