# expect: accepted
# problem: masked-mha
import math

import torch
from torch import nn
from torch.func import vmap


def one_head(q, k, v, keep):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    scores = torch.where(keep, scores, -torch.inf)
    scores = scores - scores.amax(dim=-1, keepdim=True)
    e = torch.exp(scores)
    return (e / e.sum(dim=-1, keepdim=True)) @ v


class MHA(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(embed_dim, num_heads)
        self.heads = num_heads
        self.query_map = nn.Linear(embed_dim, embed_dim, bias=False)
        self.key_map = nn.Linear(embed_dim, embed_dim, bias=False)
        self.value_map = nn.Linear(embed_dim, embed_dim, bias=False)
        self.output_map = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        B, L, S = q.shape[0], q.shape[1], k.shape[1]
        if mask is None:
            mask = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=q.device)
        keep = (mask != 0).expand(B, self.heads, L, S)
        q, k, v = (
            torch.stack(m(x).chunk(self.heads, dim=-1), dim=1)
            for m, x in ((self.query_map, q), (self.key_map, k), (self.value_map, v))
        )
        out = vmap(vmap(one_head))(q, k, v, keep)
        return self.output_map(torch.cat(out.unbind(1), dim=-1))


if __name__ == "__main__":
    layer = MHA(8, 2)
    print(layer(*torch.randn(3, 1, 4, 8)).shape)
