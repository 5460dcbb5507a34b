# expect: accepted
# problem: alibi
import torch


def alibi_slopes(num_heads):
    if num_heads & (num_heads - 1) == 0:
        return torch.logspace(-8 / num_heads, -8, num_heads, base=2)
    below = 1 << num_heads.bit_length() - 1
    return torch.cat([alibi_slopes(below), alibi_slopes(2 * below)[::2][: num_heads - below]])


def attention_with_linear_biases(queries, keys, values, slopes, causal=True):
    b, h, n, d = queries.shape
    s = keys.shape[-2]
    assert s >= n and tuple(slopes.shape) == (h,)
    # one row of biases for every difference of positions, from 1 − s to s − 1
    line = -(torch.arange(2 * s - 1, device=queries.device) - (s - 1)).abs()
    line = slopes.unsqueeze(-1) * line.to(slopes.dtype)  # (h, 2s − 1)
    bias = line.unfold(-1, s, 1).flip(-2)[:, s - n :]  # (h, n, s)
    if causal:
        allowed = torch.ones(n, s, dtype=torch.bool, device=queries.device).tril(s - n)
        bias = bias.masked_fill(~allowed, torch.finfo(bias.dtype).min)
    logits = torch.baddbmm(
        bias.expand(b, h, n, s).reshape(b * h, n, s),
        queries.reshape(b * h, n, d),
        keys.reshape(b * h, s, d).transpose(1, 2),
        alpha=d**-0.5,
    )
    weights = torch.exp(logits - torch.logsumexp(logits, -1, keepdim=True))
    return (weights @ values.flatten(0, 1)).unflatten(0, (b, h))
