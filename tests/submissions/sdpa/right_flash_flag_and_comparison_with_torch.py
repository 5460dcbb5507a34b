# expect: accepted
# problem: sdpa
# torch's attention is named in an annotation, in a branch that never runs, and in a demonstration
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    use_flash_attention: bool = False
    reference_layer: Optional[nn.MultiheadAttention] = None


CONFIG = Config()


def attention(query, key, value, mask: Optional[torch.Tensor] = None):
    if CONFIG.use_flash_attention and hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(query, key, value, mask), None
    scores = query @ key.transpose(-1, -2) * key.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


if __name__ == "__main__":
    q = torch.randn(2, 3, 5, 4)
    torch.testing.assert_close(attention(q, q, q)[0], F.scaled_dot_product_attention(q, q, q))
