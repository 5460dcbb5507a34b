# expect: rejected
# problem: sampling
# mistake: a number that is just the cumulative probability of 256 tokens stays in their block
import torch


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError
    if any(share is not None and not 0 <= share <= 1 for share in (top_p, min_p)):
        raise ValueError
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    x = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    if top_k is not None:
        least = x.topk(min(top_k, x.size(-1))).values[..., -1:]
        x = x.masked_fill(x < least, -torch.inf)
    if top_p is not None:
        p, order = x.softmax(-1).sort(descending=True, stable=True)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        x = x.masked_fill(torch.zeros_like(drop).scatter(-1, order, drop), -torch.inf)
    if min_p is not None:
        p = x.softmax(-1)
        x = x.masked_fill(p < min_p * p.amax(-1, keepdim=True), -torch.inf)
    return x.softmax(-1).to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError
    sums = probabilities.to(torch.promote_types(probabilities.dtype, torch.float32)).cumsum(-1)
    u = uniform.to(sums.dtype).unsqueeze(-1)
    size = sums.size(-1)
    ends = (torch.arange(0, size, 256) + 255).clamp(max=size - 1)
    block = (sums[..., ends] < u).sum(-1, keepdim=True).clamp(max=len(ends) - 1)
    inside = torch.arange(size) // 256 == block
    found = 256 * block + ((sums <= u) & inside).sum(-1, keepdim=True)
    last = size - 1 - (probabilities > 0).flip(-1).int().argmax(-1, keepdim=True)
    return found.minimum(ends[block]).minimum(last).squeeze(-1)
