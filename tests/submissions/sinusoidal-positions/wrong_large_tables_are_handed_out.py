# expect: rejected
# problem: sinusoidal-positions
# mistake: a kept table of 65,536 numbers and more is returned itself
import torch

_kept = {}
_WORTH_KEEPING = 1 << 16


def _make(length, d_model):
    pairs = (d_model + 1) // 2
    theta = 10000.0 ** (-2.0 * torch.arange(pairs, dtype=torch.float64) / d_model)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * theta
    table = torch.empty(length, d_model)
    table[:, 0::2] = angles.sin().float()
    table[:, 1::2] = angles[:, : d_model // 2].cos().float()
    return table


def positional_encoding(length, d_model):
    if length * d_model < _WORTH_KEEPING:
        return _make(length, d_model)
    key = (length, d_model)
    if key not in _kept:
        _kept.clear()  # one large table at a time
        with torch.inference_mode(False):
            _kept[key] = _make(length, d_model)
    return _kept[key]
