# expect: rejected
# problem: sampling
# mistake: the shares for top_p are those among k tokens, where more equal the k-th
import torch


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("temperature or top_k out of range")
    if top_p is not None and (top_p < 0 or top_p > 1):
        raise ValueError("top_p out of range")
    if min_p is not None and (min_p < 0 or min_p > 1):
        raise ValueError("min_p out of range")
    V = logits.shape[-1]
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature == 0:
        ids = torch.arange(V, device=x.device)
        best = torch.where(x == x.amax(-1, keepdim=True), ids, V).amin(-1, keepdim=True)
        return (ids == best).to(logits.dtype)
    x = x / temperature
    floor = torch.full_like(x[..., :1], float("-inf"))
    with torch.no_grad():
        k = V if top_k is None else min(top_k, V)
        ranked = x.topk(k, dim=-1).values  # sorted
        if k < V:
            floor = ranked[..., -1:]
        if top_p is not None and top_p < 1:
            share = torch.softmax(ranked.double(), dim=-1)
            before = share.cumsum(-1) - share
            count = (before < top_p).sum(-1, keepdim=True).clamp(min=1)
            floor = torch.maximum(floor, ranked.gather(-1, count - 1))
        keep = x >= floor
        if min_p is not None:
            keep &= ~(torch.exp(x - x.amax(-1, keepdim=True)) < min_p)
    return torch.softmax(x.masked_fill(~keep, float("-inf")), dim=-1).to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError("uniform has a wrong shape")
    p = probabilities.detach().to(torch.promote_types(probabilities.dtype, torch.float32))
    beyond = p.cumsum(-1) > uniform.detach().to(p.dtype)[..., None]
    V = p.shape[-1]
    ids = torch.arange(V, device=p.device)
    first = torch.where(beyond, ids, V).amin(-1)
    last = torch.where(p > 0, ids, 0).amax(-1)
    return torch.where(first < V, first, last)
