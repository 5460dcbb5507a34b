# expect: accepted
# problem: sdpa
# the function itself is compiled by TorchScript; torch's attention is named where it is never run
import math
from typing import Optional, Tuple

import torch
import torch.nn.functional as F


@torch.jit.script
def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Optional[torch.Tensor] = None
) -> Tuple[torch.Tensor, torch.Tensor]:
    if q.dim() > 9:
        return F.scaled_dot_product_attention(q, k, v), q
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(float(q.size(-1)))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
