"""The reference against lists of hypotheses, and against all sequences where every one is kept."""

import itertools
import math

import torch
from reference.beam_search import beam_search

V, END = 4, 2


def cases():
    """Yield a name, the reference's value and the other's, float64."""
    table = 1.5 * torch.randn(V, V, V, dtype=torch.float64)
    logs = table.log_softmax(-1)

    def score(tokens):
        return table[tokens[:, -2], tokens[:, -1]]

    prefix = [1, 3]
    for beams, steps, alpha in ((1, 5, 0.0), (2, 5, 0.0), (3, 6, 0.7), (5, 4, 1.0), (30, 3, 0.5)):
        found = beam_search(score, torch.tensor(prefix), beams, steps, END, alpha)
        wanted = _as_lists(logs.tolist(), prefix, beams, steps, alpha)
        for own, other, what in zip(found, wanted, ("tokens", "scores"), strict=True):
            yield f"lists, {beams} beams, {what}", own.double(), other
    _, scores = beam_search(score, torch.tensor(prefix), V**3, 3, END, 0.5)
    yield "all sequences", scores, _of_all(logs, prefix, 3, 0.5)


def _as_lists(logs, prefix, beams, steps, alpha):
    kept = [(prefix, 0.0)]
    for _ in range(steps):
        grown = []
        for row, total in kept:
            if END in row[len(prefix) :]:
                grown.append((row, total))
                continue
            every = enumerate(logs[row[-2]][row[-1]])
            grown += [([*row, token], total + log) for token, log in every]
        kept = sorted(grown, key=lambda one: -_score(*one, len(prefix), alpha))[:beams]
        if all(END in row[len(prefix) :] for row, _ in kept):
            break
    width = max(len(row) for row, _ in kept)
    rows = [row + [END] * (width - len(row)) for row, _ in kept]
    scores = [_score(*one, len(prefix), alpha) for one in kept]
    return torch.tensor(rows).double(), torch.tensor(scores, dtype=torch.float64)


def _score(row, total, start, alpha):
    return total / math.pow((5 + len(row) - start) / 6, alpha)


def _of_all(logs, prefix, steps, alpha):
    scores = {}
    for made in itertools.product(range(V), repeat=steps):
        row = made[: made.index(END) + 1] if END in made else made
        whole = [*prefix, *row]
        each = (logs[tuple(whole[i : i + 3])] for i in range(len(row)))
        scores[row] = float(sum(each)) / math.pow((5 + len(row)) / 6, alpha)
    return torch.tensor(sorted(scores.values(), reverse=True), dtype=torch.float64)
