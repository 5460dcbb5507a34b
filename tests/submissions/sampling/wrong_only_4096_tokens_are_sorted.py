# expect: rejected
# problem: sampling
# mistake: only the 4,096 most probable tokens are sorted for top_p
import torch

CANDIDATES = 4096  # to sort more than these never pays

def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError("one number for each row")
    work = probabilities if probabilities.dtype == torch.float64 else probabilities.float()
    above = work.cumsum(-1) > uniform.to(work.dtype)[..., None]
    size = work.shape[-1]
    ids = torch.arange(size, device=work.device)
    first = torch.where(above, ids, size).amin(-1)
    last = torch.where(work > 0, ids, 0).amax(-1)
    return torch.where(first < size, first, last)


def _check(temperature, top_k, top_p, min_p):
    if temperature < 0:
        raise ValueError("a negative temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k below 1")
    for share in (top_p, min_p):
        if share is not None and not 0 <= share <= 1:
            raise ValueError("a share outside 0 ... 1")


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    _check(temperature, top_k, top_p, min_p)
    size = logits.shape[-1]
    if temperature == 0:
        greatest = logits == logits.amax(-1, keepdim=True)
        ids = torch.arange(size, device=logits.device)
        lowest = torch.where(greatest, ids, size).amin(-1, keepdim=True)
        return (ids == lowest).to(logits.dtype)
    work = logits if logits.dtype == torch.float64 else logits.float()
    work = work / temperature
    with torch.no_grad():
        left = torch.ones_like(work, dtype=torch.bool)
        if top_k is not None:
            raw = logits.topk(min(top_k, size), dim=-1).values[..., -1:]
            left = logits >= raw
        if top_p is not None:
            shares = work.masked_fill(~left, float("-inf")).softmax(-1)
            p, order = shares.topk(min(size, CANDIDATES), dim=-1)
            keep = p.cumsum(-1) - p < top_p
            keep[..., 0] = True
            left = left & torch.zeros_like(left).scatter(-1, order, keep)
        if min_p is not None:
            p = work.masked_fill(~left, float("-inf")).softmax(-1)
            left = left & (p >= min_p * p.amax(-1, keepdim=True))
    return work.masked_fill(~left, float("-inf")).softmax(-1).to(logits.dtype)
