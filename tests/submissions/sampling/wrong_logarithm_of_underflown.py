# expect: rejected
# problem: sampling
# mistake: the end is a softmax over logarithms of probabilities, whose gradient is NaN where one is 0
import torch


def _check(temperature, top_k, top_p, min_p):
    if temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    if top_p is not None and not 0 <= top_p <= 1:
        raise ValueError("top_p")
    if min_p is not None and not 0 <= min_p <= 1:
        raise ValueError("min_p")


def _greedy(x, dtype):
    first = (x == x.amax(-1, keepdim=True)).int().argmax(-1, keepdim=True)
    return torch.zeros_like(x).scatter(-1, first, 1.0).to(dtype)


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    _check(temperature, top_k, top_p, min_p)
    x = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    if temperature == 0:
        return _greedy(x, logits.dtype)
    # from here on the logits are log-probabilities
    x = (x / temperature).softmax(-1).log()
    gone = float("-inf")
    if top_k is not None and top_k < x.shape[-1]:
        least = x.topk(top_k, dim=-1).values[..., -1:]
        x = x.masked_fill(x < least, gone)
    if top_p is not None and top_p < 1:
        p, order = x.softmax(-1).sort(dim=-1, descending=True, stable=True)
        before = p.cumsum(-1) - p
        drop = before >= top_p
        drop[..., 0] = False
        x = x.masked_fill(torch.zeros_like(drop).scatter(-1, order, drop), gone)
    if min_p is not None:
        p = x.softmax(-1)
        x = x.masked_fill(p < min_p * p.amax(-1, keepdim=True), gone)
    return x.softmax(-1).to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError("uniform must have the shape of probabilities without the last axis")
    p = probabilities.float() if probabilities.dtype in (torch.float16, torch.bfloat16) else probabilities
    exceeds = p.cumsum(-1) > uniform[..., None]
    first = exceeds.int().argmax(-1)
    ids = torch.arange(p.shape[-1], device=p.device)
    last = torch.where(p > 0, ids, -1).amax(-1)
    return torch.where(exceeds.any(-1), first, last)
