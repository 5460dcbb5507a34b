# expect: accepted
# problem: flash-attention
# classes, methods and fields with the names of the libraries' kernels, all of them its own
import math
from dataclasses import dataclass

import torch


@dataclass
class FlashConfig:
    block_size: int
    use_flash_attn: bool = True
    memory_efficient_attention: bool = True


class FlashAttention:
    def __init__(self, config):
        self.config = config

    @staticmethod
    def flash_attn_block(state, scores, v):
        best, total, out = state
        new = torch.maximum(best, scores.amax(-1, keepdim=True))
        old = torch.exp(best - new)
        p = torch.exp(scores - new)
        return new, total * old + p.sum(-1, keepdim=True), out * old + p @ v

    def scaled_dot_product_attention(self, q, k, v, causal):
        L, S = q.shape[-2], k.shape[-2]
        row = (*q.shape[:-1], 1)
        state = (
            q.new_full(row, -torch.inf),
            q.new_zeros(row),
            q.new_zeros((*q.shape[:-1], v.shape[-1])),
        )
        for start in range(0, S, self.config.block_size):
            stop = min(S, start + self.config.block_size)
            scores = q @ k[..., start:stop, :].transpose(-1, -2) / math.sqrt(q.shape[-1])
            if causal:
                keys = torch.arange(start, stop, device=q.device)
                later = keys > torch.arange(L, device=q.device)[:, None]
                scores = scores.masked_fill(later, -torch.inf)
            state = type(self).flash_attn_block(state, scores, v[..., start:stop, :])
        return state[2] / state[1]


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2] or q.shape[-1] != k.shape[-1]:
        raise ValueError("sizes do not fit")
    flash = FlashAttention(FlashConfig(block_size))
    if flash.config.use_flash_attn:
        return flash.scaled_dot_product_attention(q, k, v, causal)
    from flash_attn import flash_attn_func

    return flash_attn_func(q, k, v, causal=causal)
