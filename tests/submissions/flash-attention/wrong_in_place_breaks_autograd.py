# expect: rejected
# problem: flash-attention
# mistake: changes the exponentials in place, which the backward of exp still needs
# diagnosis: exponential-changed-in-place
import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    B_L = q.shape[:-1]
    acc = q.new_zeros(*B_L, v.shape[-1])
    l, m = q.new_zeros(*B_L, 1), q.new_full((*B_L, 1), -torch.inf)
    for s in range(0, k.shape[-2], block_size):
        x = q @ k[..., s : s + block_size, :].mT / q.shape[-1] ** 0.5
        if causal:
            x = x.masked_fill(
                torch.arange(s, s + x.shape[-1]) > torch.arange(q.shape[-2])[:, None], -torch.inf
            )
        own = x.amax(-1, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
        new = torch.maximum(m, own)
        p, alpha = (x - own).exp(), (m - new).exp()
        p *= (own - new).exp()
        acc = acc * alpha + p @ v[..., s : s + block_size, :]
        l = l * alpha + p.sum(-1, keepdim=True)
        m = new
    return acc / l
