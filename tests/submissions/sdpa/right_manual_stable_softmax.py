# expect: accepted
# problem: sdpa
from typing import Optional, Tuple

import torch
from torch import Tensor


def stable_softmax(x: Tensor) -> Tensor:
    x = x - x.amax(dim=-1, keepdim=True).detach()
    e = torch.exp(x)
    return e / e.sum(dim=-1, keepdim=True)


def attention(Q: Tensor, K: Tensor, V: Tensor, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"width of q is {Q.shape[-1]}, width of k is {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys but {V.shape[-2]} values")
    S = Q @ K.mT * Q.shape[-1] ** -0.5
    if mask is not None:
        S = torch.where(mask.bool(), S, torch.finfo(S.dtype).min)
    P = stable_softmax(S)
    return P @ V, P
