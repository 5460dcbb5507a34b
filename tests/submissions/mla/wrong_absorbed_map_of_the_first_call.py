# expect: rejected
# problem: mla
# mistake: the product of two maps is made in the first call and kept
# diagnosis: none
import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads must divide the width")
        self.nh, self.hd, self.c = num_heads, embed_dim // num_heads, latent_dim
        self.q = nn.Linear(embed_dim, embed_dim, bias=False)
        self.kv_down = nn.Linear(embed_dim, latent_dim, bias=False)
        self.k_up = nn.Linear(latent_dim, embed_dim, bias=False)
        self.v_up = nn.Linear(latent_dim, embed_dim, bias=False)
        self.out = nn.Linear(embed_dim, embed_dim, bias=False)
        self.absorbed_k = None

    def forward(self, x, cache=None):
        B, L, E = x.shape
        if self.absorbed_k is None:
            wq = self.q.weight.view(self.nh, self.hd, E)
            wk = self.k_up.weight.view(self.nh, self.hd, self.c)
            self.absorbed_k = torch.einsum("hde,hdc->hec", wq, wk)  # (H, E, C)
        c_new = self.kv_down(x)
        c = c_new if cache is None else torch.cat([cache, c_new], dim=1)
        T = c.size(1)
        q_lat = torch.einsum("ble,hec->bhlc", x, self.absorbed_k)
        scores = q_lat @ c.unsqueeze(1).transpose(-1, -2) / self.hd**0.5
        pos = torch.arange(T, device=x.device)
        scores = scores.masked_fill(pos[None, :] > pos[T - L :, None], float("-inf"))
        v = self.v_up(c).view(B, T, self.nh, self.hd).transpose(1, 2)
        y = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(B, L, E)
        return self.out(y), c
