# expect: rejected
# problem: rope
# mistake: positions from 0 on take a slice of a table that is kept; if it was made under inference_mode no gradient comes back
import torch

TABLES = {}


def angles_of(positions, width, base):
    steps = torch.arange(0, width, 2, dtype=torch.float64, device=positions.device) / width
    return (positions.double()[:, None] * base**-steps).float()


def table(length, width, base):
    known = TABLES.get((width, base))
    if known is None or len(known[0]) < length:
        angles = angles_of(torch.arange(max(length, 256)), width, base)
        known = TABLES[width, base] = angles.cos(), angles.sin()
    return known[0][:length], known[1][:length]


def apply_rope(x, positions, base=10000.0):
    length, width = x.shape[-2:]
    if width % 2 or positions.shape != (length,):
        raise ValueError("an even width, and a position for each token, are needed")
    if positions.tolist() == list(range(length)):
        cos, sin = table(length, width, base)
    else:
        angles = angles_of(positions, width, base)
        cos, sin = angles.cos(), angles.sin()
    whole = x.double() if x.dtype == torch.float64 else x.float()
    one, other = whole.chunk(2, dim=-1)
    return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1).to(x.dtype)
