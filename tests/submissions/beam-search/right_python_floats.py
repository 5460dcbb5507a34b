# expect: accepted
# problem: beam-search
"""Tuples of Python floats, of each row the best few alone, and heapq."""

import heapq
import math

import torch


def search_beams(model, prompt, num_beams, max_steps, eos_id, length_penalty=0.0):
    assert num_beams >= 1 and max_steps >= 1 and length_penalty >= 0

    def value(s, n):
        return s * (6 / (5 + n)) ** length_penalty

    dtype = torch.float32
    pool = [((), 0.0, False)]  # new tokens, sum, finished
    start = prompt.tolist()
    for step in range(max_steps):
        live = [p for p in pool if not p[2]]
        if not live:
            break
        logits = model(torch.tensor([start + list(p[0]) for p in live]))
        if logits.dtype == torch.float64:
            dtype = torch.float64
        rows = dict(zip([p[0] for p in live], logits.double().tolist()))
        candidates = []
        for place, (new, s, finished) in enumerate(pool):
            if finished:
                candidates.append((-value(s, len(new)), place, -1, new, s, True))
                continue
            row = rows[new]
            top = max(row)
            z = math.log(math.fsum(math.exp(v - top) for v in row))
            for token in heapq.nsmallest(num_beams, range(len(row)), key=lambda j: (-row[j], j)):
                if row[token] == -math.inf:
                    continue
                total = s + (row[token] - top - z)
                candidates.append(
                    (-value(total, len(new) + 1), place, token, (*new, token), total, token == eos_id)
                )
        pool = [c[3:] for c in heapq.nsmallest(num_beams, candidates)]
    longest = max(len(p[0]) for p in pool)
    out = [start + list(p[0]) + [eos_id] * (longest - len(p[0])) for p in pool]
    return torch.tensor(out), torch.tensor([value(p[1], len(p[0])) for p in pool], dtype=dtype)


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    return search_beams(score, prefix, beams, steps, end, alpha)
