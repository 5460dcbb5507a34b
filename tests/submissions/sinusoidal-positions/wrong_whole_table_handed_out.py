# expect: rejected
# problem: sinusoidal-positions
# mistake: the kept table itself is returned where the length is exactly its own
import numpy as np

_TABLES = {}


def positional_encoding(length, d_model):
    table = _TABLES.get(d_model)
    if table is None or len(table) < length:
        rows = 1024
        while rows < length:
            rows *= 2
        columns = np.arange(d_model)
        angle = np.arange(rows)[:, None] / 10000.0 ** (2 * (columns // 2) / d_model)
        table = np.where(columns % 2, np.cos(angle), np.sin(angle)).astype(np.float32)
        _TABLES[d_model] = table
    return table if len(table) == length else table[:length].copy()
