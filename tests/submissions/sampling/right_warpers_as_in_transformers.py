# expect: accepted
# problem: sampling
"""Warpers on logits, ascending order for top-p, a binary search for the token."""

import torch


def top_k_warp(scores, k):
    k = min(k, scores.size(-1))
    return scores.masked_fill(scores < torch.topk(scores, k)[0][..., -1, None], -float("inf"))


def top_p_warp(scores, p, min_tokens_to_keep=1):
    sorted_logits, sorted_indices = torch.sort(scores, descending=False)
    cumulative_probs = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    to_remove = cumulative_probs <= (1 - p)
    to_remove[..., -min_tokens_to_keep:] = 0
    return scores.masked_fill(to_remove.scatter(-1, sorted_indices, to_remove), -float("inf"))


def min_p_warp(scores, m):
    probs = torch.softmax(scores, dim=-1)
    top_probs, _ = probs.max(dim=-1, keepdim=True)
    return scores.masked_fill(probs < m * top_probs, -float("inf"))


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    assert temperature >= 0
    assert top_k is None or top_k >= 1
    assert top_p is None or 0 <= top_p <= 1
    assert min_p is None or 0 <= min_p <= 1
    if temperature == 0:
        n = logits.size(-1)
        return torch.nn.functional.one_hot(logits.argmax(dim=-1), n).to(logits.dtype)
    scores = logits if logits.dtype == torch.float64 else logits.float()
    scores = scores / temperature
    if top_k is not None:
        scores = top_k_warp(scores, top_k)
    if top_p is not None:
        scores = top_p_warp(scores, top_p)
    if min_p is not None:
        scores = min_p_warp(scores, min_p)
    return torch.softmax(scores, dim=-1).to(logits.dtype)


def sample(probabilities, uniform):
    if probabilities.shape[:-1] != uniform.shape:
        raise ValueError("one number for each row")
    cdf = probabilities.double().cumsum(-1).contiguous()
    found = torch.searchsorted(cdf, uniform.double().unsqueeze(-1).contiguous(), right=True)
    n = probabilities.shape[-1]
    last = n - 1 - (probabilities > 0).flip(-1).long().argmax(-1, keepdim=True)
    return torch.minimum(found, last).squeeze(-1)
