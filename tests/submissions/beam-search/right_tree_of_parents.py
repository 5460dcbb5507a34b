# expect: accepted
# problem: beam-search
"""Tokens and parents of every step are stored, and the rows are read backwards in the end."""

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1:
        raise ValueError("beams")
    if steps < 1:
        raise ValueError("steps")
    if alpha < 0:
        raise ValueError("alpha")

    history = []  # (tokens, parents) of each step

    def row_of(beam):
        made = []
        for tokens, parents in reversed(history):
            made.append(int(tokens[beam]))
            beam = int(parents[beam])
        return torch.cat([prefix, torch.tensor(made[::-1], dtype=torch.int64)])

    total, length, alive = torch.zeros(1, dtype=torch.float64), torch.zeros(1), torch.ones(1) > 0
    for _ in range(steps):
        index = [beam for beam in range(len(total)) if alive[beam]]
        if not index:
            break
        logits = score(torch.stack([row_of(beam) for beam in index]))
        out = logits.dtype if logits.dtype is torch.float64 else torch.float32
        logs = torch.log_softmax(logits.double(), -1)
        size = logs.shape[1]
        new_total = torch.full((len(total), size), -torch.inf, dtype=torch.float64)
        new_length = (length + alive.float()).double()
        for row, beam in enumerate(index):
            new_total[beam] = total[beam] + logs[row]
        for beam in range(len(total)):
            if not alive[beam]:
                new_total[beam, end] = total[beam]
        rank = new_total / (((5 + new_length) / 6) ** alpha)[:, None]
        flat = rank.reshape(-1)
        order = torch.argsort(-flat, stable=True)[:beams]
        order = order[flat[order] > -torch.inf]
        parents, tokens = order // size, order % size
        total = new_total.reshape(-1)[order]
        length = new_length[parents].float()
        alive = tokens != end
        history.append((tokens, parents))
    rows = torch.stack([row_of(beam) for beam in range(len(total))])
    return rows, (total / ((5 + length.double()) / 6) ** alpha).to(out)
