# expect: rejected
# problem: sink-attention
# mistake: both triangles begin at the upper left, as in code without a cache
# diagnosis: queries-from-zero
import torch


def attention_with_sinks(q, k, v, sinks, sliding_window=None, q_weight=None, k_weight=None):
    if q_weight is not None:
        q = torch.nn.functional.rms_norm(q, q.shape[-1:], q_weight, eps=1e-6)
        k = torch.nn.functional.rms_norm(k, k.shape[-1:], k_weight, eps=1e-6)
    b, h, l, d = q.shape
    g, s = k.shape[1], k.shape[2]
    q = q.view(b, g, h // g, l, d) if q.is_contiguous() else q.reshape(b, g, h // g, l, d)
    scores = torch.einsum("bgnld,bgsd->bgnls", q, k) * d**-0.5
    mask = torch.triu(q.new_full((l, s), -torch.inf), 1)
    if sliding_window is not None:
        mask = mask + torch.tril(q.new_full((l, s), -torch.inf), -sliding_window)
    sinks = sinks.view(g, h // g, 1, 1).expand(b, g, h // g, l, 1)
    weights = torch.cat([scores + mask, sinks], -1).softmax(-1)[..., :-1]
    return torch.einsum("bgnls,bgsd->bgnld", weights, v).reshape(b, h, l, d)
