# expect: rejected
# problem: linear-attention
# mistake: the causal denominator sums over all keys
# diagnosis: causal-denominator-over-all
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    z = 1 / torch.einsum("nhld,nhd->nhl", q, k.sum(2))
    if causal:
        kv = torch.einsum("nhld,nhlm->nhldm", k, v).cumsum(2)
        return torch.einsum("nhld,nhldm,nhl->nhlm", q, kv, z)
    kv = torch.einsum("nhld,nhlm->nhdm", k, v)
    return torch.einsum("nhld,nhdm,nhl->nhlm", q, kv, z)
