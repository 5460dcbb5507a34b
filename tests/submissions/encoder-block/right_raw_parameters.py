# expect: accepted
# problem: encoder-block
import torch
import torch.nn as nn


class EncoderBlock(nn.Module):
    """Nothing but matrices."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads != 0")
        self.h = n_heads

        def matrix(*shape):
            return nn.Parameter(torch.randn(*shape) * 0.02)

        self.W_q, self.b_q = matrix(d_model, d_model), nn.Parameter(torch.zeros(d_model))
        self.W_k, self.b_k = matrix(d_model, d_model), nn.Parameter(torch.zeros(d_model))
        self.W_v, self.b_v = matrix(d_model, d_model), nn.Parameter(torch.zeros(d_model))
        self.W_o, self.b_o = matrix(d_model, d_model), nn.Parameter(torch.zeros(d_model))
        self.gamma1, self.beta1 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.W_1, self.b_1 = matrix(d_model, d_ff), nn.Parameter(torch.zeros(d_ff))
        self.W_2, self.b_2 = matrix(d_ff, d_model), nn.Parameter(torch.zeros(d_model))
        self.gamma2, self.beta2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    @staticmethod
    def ln(x, gamma, beta, eps=1e-5):
        mu = x.mean(dim=-1, keepdim=True)
        var = ((x - mu) ** 2).mean(dim=-1, keepdim=True)
        return (x - mu) / torch.sqrt(var + eps) * gamma + beta

    def heads(self, x):
        return x.unflatten(-1, (self.h, -1)).movedim(-2, 1)

    def forward(self, x, mask=None):
        q = self.heads(x @ self.W_q + self.b_q)
        k = self.heads(x @ self.W_k + self.b_k)
        v = self.heads(x @ self.W_v + self.b_v)
        s = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            s = torch.where(mask.bool(), s, torch.full_like(s, float("-inf")))
        s = s - s.amax(-1, keepdim=True)
        p = s.exp()
        p = p / p.sum(-1, keepdim=True)
        z = torch.einsum("bhij,bhjd->bihd", p, v).flatten(2) @ self.W_o + self.b_o
        y = self.ln(x + z, self.gamma1, self.beta1)
        f = (y @ self.W_1 + self.b_1).clamp(min=0) @ self.W_2 + self.b_2
        return self.ln(y + f, self.gamma2, self.beta2)
