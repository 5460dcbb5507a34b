# expect: accepted
# problem: attention-dropout
import torch
from torch.nn import Linear


class MultiHeadAttention:
    """不是 nn.Module：自己实现 train 和 eval。"""

    def __init__(self, d_model, num_heads, dropout):
        if d_model % num_heads != 0:
            raise ValueError("d_model 必须能被 num_heads 整除")
        self.h, self.p, self.training = num_heads, dropout, True
        self.W_q, self.W_k = Linear(d_model, d_model), Linear(d_model, d_model)
        self.W_v, self.W_o = Linear(d_model, d_model), Linear(d_model, d_model)

    def train(self, mode=True):
        self.training = mode
        return self

    def eval(self):
        return self.train(False)

    def __call__(self, q, k, v, mask=None):
        q, k, v = self.W_q(q), self.W_k(k), self.W_v(v)
        heads = []
        for i, (qi, ki, vi) in enumerate(zip(*(t.chunk(self.h, dim=-1) for t in (q, k, v)))):
            s = qi @ ki.transpose(1, 2) / qi.shape[-1] ** 0.5  # (B, L, S)
            if mask is not None:
                m = mask
                if m.dim() == 4:  # (B, 1 或 H, 1 或 L, S)
                    m = m[:, i if m.shape[1] > 1 else 0]
                s = s.masked_fill(m == 0, -1e30 if s.dtype != torch.float16 else -6e4)
            w = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
            if self.training and self.p > 0:
                w = torch.where(torch.rand(w.shape) < self.p, torch.zeros_like(w), w / (1 - self.p))
            heads.append(w @ vi)
        return self.W_o(torch.cat(heads, dim=-1))
