# expect: accepted
# problem: sampling
# no sorting: how many tokens, and how much, lies above each one
import torch


def _above(x, weights):
    """Sum of the weights of all tokens that are greater than each one."""
    rows = [
        torch.einsum("ij,j->i", (row[None, :] > row[:, None]).to(w.dtype), w)
        for row, w in zip(x.reshape(-1, x.shape[-1]), weights.reshape(-1, x.shape[-1]), strict=True)
    ]
    return torch.stack(rows).reshape(x.shape)


def filtered(logits, T=1.0, k=None, p=None, min_p=None):
    if T < 0 or (k is not None and k < 1):
        raise ValueError("T or k")
    if (p is not None and not 0 <= p <= 1) or (min_p is not None and not 0 <= min_p <= 1):
        raise ValueError("p or min_p")
    if T == 0:
        ids = torch.arange(logits.shape[-1]).expand(logits.shape)
        top = logits == logits.amax(-1, keepdim=True)
        first = torch.where(top, ids, logits.shape[-1]).amin(-1, keepdim=True)
        return (ids == first).to(logits.dtype)
    x = logits.double() / T
    if k is not None:
        x = x.where(_above(x.detach(), torch.ones_like(x)) < k, -torch.inf)
    if p is not None:
        probs = x.softmax(-1).detach()
        more = _above(probs, probs)
        x = x.where((more < p) | (probs == probs.amax(-1, keepdim=True)), -torch.inf)
    if min_p is not None:
        probs = x.softmax(-1)
        x = x.where(probs / probs.amax(-1, keepdim=True) >= min_p, -torch.inf)
    return torch.softmax(x, dim=-1).to(logits.dtype)


def inverse_cdf(probs, u):
    if probs.dim() != u.dim() + 1 or probs.shape[:-1] != u.shape:
        raise ValueError(f"{probs.shape} and {u.shape}")
    V = probs.shape[-1]
    upper = torch.ones(V, V, dtype=torch.float64).triu()  # j ≤ i
    cdf = torch.einsum("...j,ji->...i", probs.double(), upper)
    beyond = (cdf > u.double().unsqueeze(-1)) & (probs > 0)
    beyond = beyond | (torch.cumsum((probs > 0).flip(-1).int(), -1).flip(-1) == 1) & (probs > 0)
    return beyond.int().argmax(-1)
