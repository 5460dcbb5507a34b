"""Finished beams leave the search for a list of their own, and the live ones fill all places."""

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("an argument is out of its range")
    live = [(prefix.tolist(), 0.0)]
    finished = []
    dtype = torch.float32
    for made in range(1, steps + 1):
        logits = score(torch.tensor([tokens for tokens, _ in live]))
        dtype = torch.promote_types(logits.dtype, torch.float32)
        logs = logits.to(dtype).log_softmax(-1).tolist()
        grown = [
            (tokens + [token], total + log)
            for (tokens, total), row in zip(live, logs, strict=True)
            for token, log in enumerate(row)
            if log > -torch.inf
        ]
        grown.sort(key=lambda one: one[1], reverse=True)
        live = []
        for place, (tokens, total) in enumerate(grown[: 2 * beams]):
            if tokens[-1] == end and place < beams:
                finished.append((tokens, total / ((5 + made) / 6) ** alpha))
            elif tokens[-1] != end and len(live) < beams:
                live.append((tokens, total))
        if len(finished) >= beams or not live:
            live = []
            break
    penalty = ((5 + steps) / 6) ** alpha
    every = [*finished, *((tokens, total / penalty) for tokens, total in live)]
    every = sorted(every, key=lambda one: one[1], reverse=True)[:beams]
    width = max(len(tokens) for tokens, _ in every)
    rows = [tokens + [end] * (width - len(tokens)) for tokens, _ in every]
    return torch.tensor(rows), torch.tensor([one[1] for one in every], dtype=dtype)
