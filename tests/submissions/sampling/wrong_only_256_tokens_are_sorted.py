# expect: rejected
# problem: sampling
# mistake: only the 256 most probable tokens are sorted for top_p
import torch

SHORT = 256  # tokens that nearly always hold top_p: no need to sort the whole vocabulary


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k must be at least 1")
    for share in (top_p, min_p):
        if share is not None and not 0 <= share <= 1:
            raise ValueError("top_p and min_p must be in 0 ... 1")
    vocabulary = logits.shape[-1]
    wide = logits if logits.dtype in (torch.float32, torch.float64) else logits.float()
    if temperature == 0:
        ids = torch.arange(vocabulary, device=logits.device)
        best = wide == wide.amax(-1, keepdim=True)
        first = torch.where(best, ids, vocabulary).amin(-1, keepdim=True)
        return (ids == first).to(logits.dtype)

    scaled = wide / temperature
    with torch.no_grad():
        keep = wide > -float("inf")
        if top_k is not None and top_k < vocabulary:
            keep = keep & (wide >= wide.topk(int(top_k), dim=-1).values[..., -1:])
        if top_p is not None and top_p < 1:
            p = torch.softmax(scaled.masked_fill(~keep, -float("inf")).double(), dim=-1)
            ranked = p.topk(min(SHORT, vocabulary), dim=-1)
            if SHORT < vocabulary and not bool((ranked.values.sum(-1) >= top_p).any()):
                ranked = p.sort(dim=-1, descending=True, stable=True)
            values, order = ranked[0], ranked[1]
            before = values.cumsum(-1) - values
            stays = before < top_p
            stays[..., 0] = True
            keep = keep & torch.zeros_like(keep).scatter(-1, order, stays)
        if min_p is not None:
            p = torch.softmax(scaled.masked_fill(~keep, -float("inf")), dim=-1)
            keep = keep & (p >= min_p * p.amax(-1, keepdim=True))
    return torch.softmax(scaled.masked_fill(~keep, -float("inf")), dim=-1).to(logits.dtype)


def sample(probabilities, uniform):
    if tuple(uniform.shape) != tuple(probabilities.shape[:-1]):
        raise ValueError("one number for each row")
    wide = probabilities if probabilities.dtype in (torch.float32, torch.float64) else probabilities.float()
    with torch.no_grad():
        ids = torch.arange(wide.shape[-1], device=wide.device)
        above = wide.cumsum(-1) > uniform.to(wide.dtype).unsqueeze(-1)
        first = torch.where(above, ids, wide.shape[-1]).amin(-1)
        last = torch.where(wide > 0, ids, -1).amax(-1)
        return torch.where(above.any(-1), torch.minimum(first, last), last)
