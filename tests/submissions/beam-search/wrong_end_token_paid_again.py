# expect: rejected
# problem: beam-search
# mistake: finished beams are scored again, and each end token that pads them costs
# diagnosis: finished-goes-on

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("out of range")
    rows, totals = prefix.reshape(1, -1), torch.zeros(1)
    n, over = torch.zeros(1, dtype=torch.long), torch.zeros(1, dtype=torch.bool)
    for _ in range(steps):
        x = score(rows)
        x = x if x.dtype == torch.float64 else x.float()
        lp = torch.log_softmax(x, dim=1)
        only_end = torch.full_like(lp, -float("inf"))
        only_end[:, end] = lp[:, end]
        lp = torch.where(over[:, None], only_end, lp)
        every = totals[:, None] + lp
        n = n + ~over
        ranked = every / (((5 + n.to(lp.dtype)) / 6) ** alpha)[:, None]
        best = ranked.view(-1).sort(descending=True, stable=True)[1][:beams]
        best = best[every.view(-1)[best] > -float("inf")]
        b, w = best // lp.shape[1], best % lp.shape[1]
        rows, totals, n = torch.hstack([rows[b], w[:, None]]), every.view(-1)[best], n[b]
        over = over[b] | (w == end)
        if bool(over.all()):
            break
    return rows, totals / ((5 + n.to(totals.dtype)) / 6) ** alpha
