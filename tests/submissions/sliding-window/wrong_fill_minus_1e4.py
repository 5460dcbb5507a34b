# expect: rejected
# problem: sliding-window
# mistake: a fill of −1e4, which scores may be below
import torch
import torch.nn.functional as F


def sliding_attention(query_states, key_states, value_states, window_size):
    n, d = query_states.shape[-2:]
    left = (0, 0, window_size - 1, 0)
    ks = F.pad(key_states, left).unfold(-2, window_size, 1)
    vs = F.pad(value_states, left).unfold(-2, window_size, 1)
    scores = torch.einsum("bhnd,bhndw->bhnw", query_states, ks) * d**-0.5
    position = torch.arange(n).view(n, 1) - torch.arange(window_size - 1, -1, -1)
    scores = scores.masked_fill(position < 0, -1e4)
    probs = F.softmax(scores, dim=-1, dtype=torch.float32).to(query_states.dtype)
    return torch.einsum("bhnw,bhndw->bhnd", probs, vs)
