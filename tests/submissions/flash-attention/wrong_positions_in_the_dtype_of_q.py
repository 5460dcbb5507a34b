# expect: rejected
# problem: flash-attention
# bfloat16 counts to 256: beyond that some queries see the key after them.
import torch


def flash_attention(q, k, v, block_size, causal=False):
    length, keys = q.shape[-2], k.shape[-2]
    if k.shape[-2] != v.shape[-2] or k.shape[-1] != q.shape[-1] or block_size < 1:
        raise ValueError("the sizes do not fit")
    rows = torch.arange(length, device=q.device, dtype=q.dtype).unsqueeze(-1)
    running_max = q.new_full((*q.shape[:-1], 1), -torch.inf)
    running_sum = q.new_zeros((*q.shape[:-1], 1))
    output = q.new_zeros((*q.shape[:-1], v.shape[-1]))
    for begin in range(0, keys, block_size):
        end = min(begin + block_size, keys)
        s = q @ k[..., begin:end, :].mT / q.shape[-1] ** 0.5
        if causal:
            columns = torch.arange(begin, end, device=q.device, dtype=q.dtype)
            s = s.masked_fill(columns > rows, -torch.inf)
        highest = torch.maximum(running_max, s.amax(-1, keepdim=True))
        p = (s - highest).exp()
        shrink = (running_max - highest).exp()
        running_sum = running_sum * shrink + p.sum(-1, keepdim=True)
        output = output * shrink + p @ v[..., begin:end, :]
        running_max = highest
    return output / running_sum
