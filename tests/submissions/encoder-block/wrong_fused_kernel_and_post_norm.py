# expect: rejected
# problem: encoder-block
# mistake: the fused kernel, its name put together
# diagnosis: fused-attention
import torch.nn.functional as F
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, n_embd, n_head, n_ff):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.ln_1 = nn.LayerNorm(n_embd)
        self.mlp_fc = nn.Linear(n_embd, n_ff)
        self.mlp_proj = nn.Linear(n_ff, n_embd)
        self.ln_2 = nn.LayerNorm(n_embd)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        q, k, v = (
            t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            for t in self.c_attn(x).split(C, dim=2)
        )
        attend = getattr(F, "scaled_dot_product" + "_attention")
        y = attend(q, k, v, attn_mask=None if mask is None else mask.bool())
        y = self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        x = self.ln_1(x + y)
        return self.ln_2(x + self.mlp_proj(F.relu(self.mlp_fc(x))))
