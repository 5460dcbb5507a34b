# problem: sdpa
# right: einsum with an ellipsis, torch.where instead of masked_fill, lowest number of the dtype as fill
from typing import Optional, Tuple

import torch
from torch import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor]:
    """Attention of queries q over keys k and values v.

    einsum lets a size of 1 broadcast, so the sizes are compared explicitly.
    """
    assert q.shape[-1] == k.shape[-1], f"width {q.shape[-1]} != {k.shape[-1]}"
    assert k.shape[-2] == v.shape[-2], f"length {k.shape[-2]} != {v.shape[-2]}"
    logits: Tensor = torch.einsum("...ld,...sd->...ls", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        lowest = torch.full_like(logits, torch.finfo(logits.dtype).min)
        logits = torch.where(mask.bool(), logits, lowest)
    attn: Tensor = logits.softmax(dim=-1)
    return torch.einsum("...ls,...se->...le", attn, v), attn
