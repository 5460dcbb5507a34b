# expect: accepted
# problem: cross-attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_state: int, n_head: int, n_ctx_state: int):
        super().__init__()
        assert n_state % n_head == 0
        self.n_head = n_head
        self.query = nn.Linear(n_state, n_state)
        self.key = nn.Linear(n_ctx_state, n_state, bias=False)
        self.value = nn.Linear(n_ctx_state, n_state)
        self.out = nn.Linear(n_state, n_state)

    def forward(self, x, xa, mask=None):
        q = self.query(x)
        k = self.key(xa)
        v = self.value(xa)
        wv, qk = self.qkv_attention(q, k, v, mask)
        return self.out(wv), qk

    def qkv_attention(self, q, k, v, mask=None):
        n_batch, n_ctx, n_state = q.shape
        scale = (n_state // self.n_head) ** -0.25
        q = q.view(*q.shape[:2], self.n_head, -1).permute(0, 2, 1, 3) * scale
        k = k.view(*k.shape[:2], self.n_head, -1).permute(0, 2, 3, 1) * scale
        v = v.view(*v.shape[:2], self.n_head, -1).permute(0, 2, 1, 3)
        qk = q @ k
        if mask is not None:
            qk = qk.masked_fill(~mask.bool()[:, None, None], float("-inf"))
        w = qk.softmax(dim=-1)
        return (w @ v).permute(0, 2, 1, 3).flatten(start_dim=2), qk.detach()
