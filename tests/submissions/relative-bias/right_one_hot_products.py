# expect: accepted
# problem: relative-bias
import torch
import torch.nn.functional as F
from torch import nn


class RelativeMultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        if num_heads <= 0 or embed_dim % num_heads != 0:
            raise ValueError("embed_dim % num_heads")
        self.H, self.D, self.m = num_heads, embed_dim // num_heads, max_distance
        self.Wq = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim**-0.5)
        self.Wk = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim**-0.5)
        self.Wv = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim**-0.5)
        self.Wo = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim**-0.5)
        self.bias = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))

    def forward(self, x):
        B, L, E = x.shape
        # heads folded into the batch
        q, k, v = (
            (x @ w).view(B, L, self.H, self.D).transpose(1, 2).reshape(B * self.H, L, self.D)
            for w in (self.Wq, self.Wk, self.Wv)
        )
        i = torch.arange(L, device=x.device)
        d = (i.unsqueeze(0) - i.unsqueeze(1)).clamp(min=-self.m, max=self.m)
        hot = F.one_hot(d + self.m, 2 * self.m + 1).to(x.dtype)
        b = torch.einsum("ijr,rh->hij", hot, self.bias).repeat(B, 1, 1)
        p = torch.baddbmm(b, q, k.transpose(1, 2), alpha=self.D**-0.5).softmax(-1)
        y = torch.bmm(p, v).view(B, self.H, L, self.D).transpose(1, 2).reshape(B, L, E)
        return y @ self.Wo, p.view(B, self.H, L, L)
