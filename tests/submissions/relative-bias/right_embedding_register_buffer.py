# expect: accepted
# problem: relative-bias
import torch
import torch.nn as nn


class RelativeSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_relative_position, max_len=128):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.m = max_relative_position
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.rel_bias = nn.Embedding(2 * self.m + 1, n_heads)
        self.fc_out = nn.Linear(d_model, d_model)
        self.register_buffer("index", self.make_index(max_len), persistent=False)

    def make_index(self, n):
        pos = torch.arange(n)
        return torch.clamp(pos[None, :] - pos[:, None], -self.m, self.m) + self.m

    def forward(self, x):
        b, n, e = x.shape
        if n > self.index.shape[0]:
            with torch.inference_mode(False):  # what is kept must serve training too
                self.index = self.make_index(2 * n).to(x.device)
        q, k, v = self.qkv(x).view(b, n, 3, self.n_heads, self.d_k).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.d_k**0.5
        scores = scores + self.rel_bias(self.index[:n, :n]).permute(2, 0, 1).unsqueeze(0)
        out = torch.matmul(torch.softmax(scores, dim=-1), v)
        return self.fc_out(out.transpose(1, 2).reshape(b, n, e))
