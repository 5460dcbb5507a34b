# expect: accepted
# problem: self-attention
import torch
from torch.nn import Linear


class MHSA:
    """Not an nn.Module: a class with four Linear layers that knows train() and eval()."""

    def __init__(self, d, h, dropout=0.0, bias=True, causal=False):
        if d % h != 0:
            raise ValueError("h does not divide d")
        self.h, self.d_k, self.p, self.causal = h, d // h, dropout, causal
        self.wq, self.wk, self.wv = (Linear(d, d, bias=bias) for _ in range(3))
        self.wo = Linear(d, d, bias=bias)
        self.training = True

    def train(self, mode=True):
        self.training = mode
        return self

    def eval(self):
        return self.train(False)

    def __call__(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        b, n = x.shape[:2]
        q, k, v = (
            w(x).unflatten(-1, (self.h, self.d_k)).permute(0, 2, 1, 3)
            for w in (self.wq, self.wk, self.wv)
        )
        logits = (q @ k.mT) * self.d_k**-0.5
        if attn_mask is not None and attn_mask.dtype != torch.bool:
            logits = logits + attn_mask
            attn_mask = None
        blocked = [] if attn_mask is None else [attn_mask.expand(b, self.h, n, n)]
        if key_padding_mask is not None:
            blocked.append(key_padding_mask[:, None, None, :].expand(b, self.h, n, n))
        if self.causal:
            future = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
            blocked.append(future.expand(b, self.h, n, n))
        if blocked:
            logits = logits.masked_fill(torch.stack(blocked).any(0), float("-inf"))
        w = torch.exp(logits - torch.logsumexp(logits, dim=-1, keepdim=True))
        used = w
        if self.training and self.p:
            used = w * torch.bernoulli(torch.full_like(w, 1 - self.p)) / (1 - self.p)
        y = self.wo((used @ v).permute(0, 2, 1, 3).flatten(2))
        return (y, w) if need_weights else (y, None)
