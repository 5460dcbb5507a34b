# expect: rejected
# problem: sampling
# mistake: the mask of the sorted row is laid on the unsorted one
# diagnosis: top-p-mask-in-sorted-order
import torch


def check(temperature, top_k, top_p, min_p):
    if temperature < 0 or (top_k or 1) < 1 or top_k == 0:
        raise ValueError("temperature or top_k")
    if not all(0 <= share <= 1 for share in (top_p or 0, min_p or 0)):
        raise ValueError("top_p or min_p")


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    check(temperature, top_k, top_p, min_p)
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    x = (logits if logits.dtype is torch.float64 else logits.float()) / temperature
    if top_k is not None:
        x = x.masked_fill(x < x.topk(min(top_k, x.shape[-1]), -1).values[..., -1:], -torch.inf)
    if top_p is not None:
        total = torch.cumsum(torch.softmax(x, -1).sort(-1, descending=True).values, -1)
        drop = torch.roll(total >= top_p, 1, -1)
        drop[..., 0] = False
        x = x.masked_fill(drop, -torch.inf)
    if min_p is not None:
        p = x.softmax(-1)
        x = x.masked_fill(p < min_p * p.amax(-1, keepdim=True), -torch.inf)
    return x.softmax(-1).to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError
    c = probabilities.double().cumsum(-1)
    c = c / c[..., -1:]
    return (c > uniform.unsqueeze(-1)).int().argmax(-1)
