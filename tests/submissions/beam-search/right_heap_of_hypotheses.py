# expect: accepted
# problem: beam-search
"""A generator of continuations and heapq.nlargest, which keeps the order of equal ones."""

import heapq
from typing import NamedTuple

import torch


class Hypothesis(NamedTuple):
    tokens: tuple[int, ...]
    log_prob: float
    length: int
    finished: bool

    def normalised(self, alpha: float) -> float:
        return self.log_prob / ((self.length + 5.0) / 6.0) ** alpha


def continuations(hypotheses, table, end):
    row = 0
    for one in hypotheses:
        if one.finished:
            yield one
            continue
        for token, log_prob in enumerate(table[row]):
            if log_prob != float("-inf"):
                yield Hypothesis(
                    (*one.tokens, token), one.log_prob + log_prob, one.length + 1, token == end
                )
        row += 1


def search(score_fn, prefix, k, max_steps, end_id, length_penalty=0.0):
    if min(k, max_steps) < 1 or length_penalty < 0:
        raise ValueError("k and max_steps from 1, length_penalty from 0")
    hypotheses = [Hypothesis(tuple(prefix.tolist()), 0.0, 0, False)]
    wide = False
    for _ in range(max_steps):
        asked = [one.tokens for one in hypotheses if not one.finished]
        if not asked:
            break
        # the order of rows is free
        out = score_fn(torch.tensor(asked[::-1])).flip(0)
        wide = out.dtype is torch.float64
        table = out.to(torch.float64).log_softmax(dim=1).tolist()
        every = continuations(hypotheses, table, end_id)
        hypotheses = heapq.nlargest(k, every, key=lambda one: one.normalised(length_penalty))
    width = max(len(one.tokens) for one in hypotheses)
    tokens = torch.tensor([[*o.tokens, *[end_id] * (width - len(o.tokens))] for o in hypotheses])
    scores = [one.normalised(length_penalty) for one in hypotheses]
    return tokens, torch.tensor(scores, dtype=torch.float64 if wide else torch.float32)
