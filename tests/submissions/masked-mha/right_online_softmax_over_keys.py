# expect: accepted
# problem: masked-mha
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """One key at a time, with a running maximum: never holds the scores."""

    def __init__(self, d_model: int, nhead: int):
        super().__init__()
        if nhead <= 0 or d_model % nhead != 0:
            raise ValueError("nhead must divide d_model")
        self.nhead = nhead
        self.proj = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("q", "k", "v", "out")})

    def forward(self, q, k, v, mask=None):
        B, L, E = q.shape
        S = k.shape[1]
        assert v.shape[1] == S
        D = E // self.nhead
        q, k, v = (
            self.proj[n](x).unflatten(2, (self.nhead, D)).movedim(2, 1) for n, x in (("q", q), ("k", k), ("v", v))
        )
        if mask is not None:
            mask = mask.bool().expand(B, self.nhead, L, S)
        top = torch.full((B, self.nhead, L), torch.finfo(q.dtype).min, dtype=q.dtype, device=q.device)
        total = torch.zeros_like(top)
        out = torch.zeros_like(q)
        for j in range(S):
            score = (q * k[:, :, j : j + 1]).sum(-1) / D**0.5
            if mask is not None:
                score = score.masked_fill(~mask[..., j], torch.finfo(q.dtype).min)
            new_top = torch.maximum(top, score)
            old, now = torch.exp(top - new_top), torch.exp(score - new_top)
            total = total * old + now
            out = out * old.unsqueeze(-1) + now.unsqueeze(-1) * v[:, :, j : j + 1]
            top = new_top
        out = out / total.unsqueeze(-1)
        return self.proj["out"](out.movedim(1, 2).flatten(2))
