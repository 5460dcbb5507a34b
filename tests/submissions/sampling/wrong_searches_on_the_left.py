# expect: rejected
# problem: sampling
# mistake: searchsorted on the left: a sum that equals the number is taken as enough
# diagnosis: first-at-least
import torch


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError
    if any(p is not None and not 0 <= p <= 1 for p in (top_p, min_p)):
        raise ValueError
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    x = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    if top_k is not None:
        x = x.masked_fill(x < x.topk(min(top_k, x.shape[-1])).values[..., -1:], -torch.inf)
    if top_p is not None:
        p, i = torch.sort(x.softmax(-1), descending=True)
        go = p.cumsum(-1) - p >= top_p
        go[..., 0] = False
        x = x.masked_fill(torch.zeros_like(go).scatter(-1, i, go), -torch.inf)
    if min_p is not None:
        p = x.softmax(-1)
        x = x.masked_fill(p < min_p * p.amax(-1, keepdim=True), -torch.inf)
    return x.softmax(-1).to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError
    c = probabilities.double().cumsum(-1)
    c = c / c[..., -1:]
    return torch.searchsorted(c, uniform.double().unsqueeze(-1)).squeeze(-1)
