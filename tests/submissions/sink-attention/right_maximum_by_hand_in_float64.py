# expect: accepted
# problem: sink-attention
import torch


def repeat_kv(x, n_rep):
    b, g, s, d = x.shape
    return x[:, :, None].expand(b, g, n_rep, s, d).reshape(b, g * n_rep, s, d)


def sink_attention(query_states, key_states, value_states, attention_sinks, sliding_window=None,
                   q_norm_weight=None, k_norm_weight=None):
    """The softmax by hand, all of it in float64, the maximum over scores and sink detached."""
    dtype = query_states.dtype
    q, k, v, sinks = (x.double() for x in (query_states, key_states, value_states, attention_sinks))
    if q_norm_weight is not None:
        q = q * q_norm_weight.double() / q.square().mean(-1, keepdim=True).add(1e-6).sqrt()
        k = k * k_norm_weight.double() / k.square().mean(-1, keepdim=True).add(1e-6).sqrt()
    b, h, l, d = q.shape
    s = k.shape[2]
    if h % k.shape[1] != 0 or v.shape[2] != s:
        raise RuntimeError("bad shapes")
    k, v = repeat_kv(k, h // k.shape[1]), repeat_kv(v, h // v.shape[1])
    scores = torch.matmul(q, k.transpose(2, 3)) * d**-0.5
    allowed = torch.ones(l, s, dtype=torch.bool, device=q.device).tril(s - l)
    if sliding_window:
        allowed = allowed & ~torch.ones_like(allowed).tril(s - l - sliding_window)
    sink = sinks.reshape(1, h, 1, 1).expand(b, h, l, 1)
    scores = scores.masked_fill(~allowed, float("-inf"))
    top = torch.maximum(scores.max(-1, keepdim=True).values, sink).detach()
    numerator = (scores - top).exp()
    weights = numerator / (numerator.sum(-1, keepdim=True) + (sink - top).exp())
    return (weights @ v).to(dtype)
