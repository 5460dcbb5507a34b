# expect: rejected
# problem: beam-search
# mistake: finished beams leave the search, which goes on with as many live ones as before
# diagnosis: finished-take-no-place

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("out of range")
    live, completed = [(prefix.tolist(), 0.0)], []
    for step in range(1, steps + 1):
        logits = score(torch.tensor([ids for ids, _ in live]))
        dtype = torch.promote_types(logits.dtype, torch.float32)
        table = logits.to(dtype).log_softmax(-1).tolist()
        grown = [
            (ids + [token], total + log)
            for (ids, total), row in zip(live, table)
            for token, log in enumerate(row)
            if log != float("-inf")
        ]
        grown.sort(key=lambda h: -h[1])
        norm = ((5 + step) / 6) ** alpha
        completed += [(ids, total / norm) for ids, total in grown[:beams] if ids[-1] == end]
        live = [h for h in grown if h[0][-1] != end][:beams]
        if len(completed) >= beams or not live:
            break
    else:
        completed += [(ids, total / norm) for ids, total in live]
    best = sorted(completed, key=lambda h: -h[1])[:beams]
    width = max(len(ids) for ids, _ in best)
    return (
        torch.tensor([ids + [end] * (width - len(ids)) for ids, _ in best]),
        torch.tensor([total for _, total in best], dtype=dtype),
    )
