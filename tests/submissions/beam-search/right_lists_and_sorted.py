# expect: accepted
# problem: beam-search
"""Hypotheses as tuples in a list, as one writes it at a whiteboard."""

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1:
        raise ValueError("at least one beam and one step")
    if alpha < 0:
        raise ValueError("alpha must not be negative")

    def rank(hypothesis):
        made, total, _ = hypothesis
        return total / ((5 + len(made)) / 6) ** alpha

    start = prefix.tolist()
    hypotheses = [([], 0.0, False)]
    dtype = torch.float32
    for _ in range(steps):
        live = [start + made for made, _, finished in hypotheses if not finished]
        if not live:
            break
        logits = score(torch.tensor(live))
        dtype = torch.float64 if logits.dtype == torch.float64 else torch.float32
        logs = iter(torch.log_softmax(logits.double(), dim=-1).tolist())
        candidates = []
        for made, total, finished in hypotheses:
            if finished:
                candidates.append((made, total, True))
                continue
            for token, log in enumerate(next(logs)):
                if log > float("-inf"):
                    candidates.append((made + [token], total + log, token == end))
        # sorted() is stable
        hypotheses = sorted(candidates, key=rank, reverse=True)[:beams]
    longest = max(len(made) for made, _, _ in hypotheses)
    tokens = [start + made + [end] * (longest - len(made)) for made, _, _ in hypotheses]
    return torch.tensor(tokens), torch.tensor([rank(one) for one in hypotheses], dtype=dtype)
