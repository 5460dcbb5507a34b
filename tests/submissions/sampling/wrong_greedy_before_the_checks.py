# expect: rejected
# problem: sampling
# mistake: with a temperature of 0 no other argument is looked at
import torch


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    dtype = logits.dtype
    wide = logits.float() if dtype in (torch.float16, torch.bfloat16) else logits
    never = float("-inf")
    if temperature == 0:  # greedy: filters make no difference
        best = wide.argmax(-1, keepdim=True)
        ids = torch.arange(wide.shape[-1], device=wide.device)
        return wide.masked_fill(ids != best, never).softmax(-1).to(dtype)
    if top_k is not None and top_k < 1:
        raise ValueError("top_k must be at least 1")
    for share in (top_p, min_p):
        if share is not None and not 0 <= share <= 1:
            raise ValueError("top_p and min_p must be from 0 to 1")
    wide = wide / temperature
    if top_k is not None and top_k < wide.shape[-1]:
        bound = wide.topk(top_k, dim=-1).values[..., -1:]
        wide = wide.masked_fill(wide < bound, never)
    if top_p is not None:
        order = wide.argsort(dim=-1, descending=True, stable=True)
        sums = wide.softmax(-1).gather(-1, order).cumsum(-1)
        remove = torch.zeros_like(sums, dtype=torch.bool)
        remove[..., 1:] = sums[..., :-1] >= top_p
        wide = wide.masked_fill(torch.zeros_like(remove).scatter(-1, order, remove), never)
    if min_p is not None:
        shares = wide.softmax(-1)
        wide = wide.masked_fill(shares < min_p * shares.amax(-1, keepdim=True), never)
    return wide.softmax(-1).to(dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError("one number for each row")
    wide = probabilities.float() if probabilities.dtype in (torch.float16, torch.bfloat16) else probabilities
    ids = (wide.cumsum(-1) <= uniform[..., None]).sum(-1)
    places = torch.arange(wide.shape[-1], device=wide.device)
    last = torch.where(wide > 0, places, 0).amax(-1)
    return torch.minimum(ids, last)
