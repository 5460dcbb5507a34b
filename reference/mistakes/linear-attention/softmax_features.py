import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    softmaxes = True
    queries = torch.softmax(q, dim=-1) if softmaxes else torch.nn.functional.elu(q) + 1
    keys = torch.softmax(k, dim=-2) if softmaxes else torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
    if softmaxes:
        return numerator
    return numerator / (queries * keys.cumsum(dim=2)).sum(dim=-1, keepdim=True)
