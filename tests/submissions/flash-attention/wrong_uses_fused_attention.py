# expect: rejected
# problem: flash-attention
# mistake: calls the fused kernel for each block of queries
# diagnosis: fused-attention
import torch
import torch.nn.functional as F


def flash_attention(q, k, v, block_size, causal=False):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
