# expect: rejected
# problem: sampling
# mistake: the token that crosses top_p is removed
# diagnosis: top-p-crossing-token-removed
import torch


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError
    if any(p is not None and not 0 <= p <= 1 for p in (top_p, min_p)):
        raise ValueError
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    p = torch.softmax(logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature, -1)
    if top_k is not None:
        kth = p.sort(-1, descending=True).values[..., min(top_k, p.shape[-1]) - 1, None]
        p = p * (p >= kth)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        s, i = p.sort(-1, descending=True)
        keep = s.cumsum(-1) <= top_p
        keep[..., 0] = True
        p = p * torch.zeros_like(keep).scatter(-1, i, keep)
        p = p / p.sum(-1, keepdim=True)
    if min_p is not None:
        p = p * (p >= min_p * p.amax(-1, keepdim=True))
        p = p / p.sum(-1, keepdim=True)
    return p.to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError
    c = probabilities.double().cumsum(-1)
    c = c / c[..., -1:]
    return (c > uniform.unsqueeze(-1)).int().argmax(-1)
