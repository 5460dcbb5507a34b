# expect: rejected
# problem: linear-attention
# mistake: elu_ writes into the inputs
# diagnosis: elu-in-place
import torch


def linear_attention(q, k, v, causal=False):
    q = torch.nn.functional.elu_(q) + 1
    k = torch.nn.functional.elu_(k) + 1
    if causal:
        s = (k.unsqueeze(-1) * v.unsqueeze(-2)).cumsum(2)
        n = (q.unsqueeze(-2) @ s).squeeze(-2)
        return n / (q * k.cumsum(2)).sum(-1, keepdim=True)
    return q @ (k.mT @ v) / (q * k.sum(2, keepdim=True)).sum(-1, keepdim=True)
