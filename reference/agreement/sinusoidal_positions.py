"""The reference against the formula, number by number, and against its own rotation."""

import math

import torch
from reference.sinusoidal_positions import positional_encoding


def cases():
    """Yield a name, the reference's table and the other's, (length, d_model) in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # the table has the default dtype
    try:
        for length, d_model in ((1, 2), (7, 12), (50, 5)):
            own = positional_encoding(length, d_model)
            yield f"the formula, {length} by {d_model}", own, _formula(length, d_model)
        yield "each row turned into the next", positional_encoding(60, 8), _turned(60, 8)
    finally:
        torch.set_default_dtype(before)


def _formula(length, d_model):
    table = torch.empty(length, d_model)
    for pos in range(length):
        for feature in range(d_model):
            angle = pos / math.pow(10000, (feature - feature % 2) / d_model)
            table[pos, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    return table


def _turned(length, d_model):
    """Turn each pair of a row by its frequency to get the next row, from (0, 1) on."""
    step = torch.tensor([10000 ** (-i / d_model) for i in range(0, d_model, 2)])
    sin, cos = torch.zeros(d_model // 2), torch.ones(d_model // 2)
    rows = []
    for _ in range(length):
        rows.append(torch.stack([sin, cos], dim=-1).flatten())
        sin, cos = (
            sin * step.cos() + cos * step.sin(),
            cos * step.cos() - sin * step.sin(),
        )
    return torch.stack(rows)
