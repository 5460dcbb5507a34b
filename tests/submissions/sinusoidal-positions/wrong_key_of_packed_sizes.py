# expect: rejected
# problem: sinusoidal-positions
# mistake: tables are kept by length and width packed into one number
import math

import torch
from torch import Tensor

_WIDTH_BITS = 9  # widths go up to 512
_tables: dict[int, Tensor] = {}


def _build(length: int, d_model: int) -> Tensor:
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(
        torch.arange(0, d_model, 2, dtype=torch.float32) * (-math.log(10000.0) / d_model)
    )
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term[: d_model // 2])
    return pe


def positional_encoding(length: int, d_model: int) -> Tensor:
    key = (length << _WIDTH_BITS) | d_model
    if key not in _tables:
        if len(_tables) >= 32:
            _tables.clear()
        _tables[key] = _build(length, d_model)
    return _tables[key].clone()
