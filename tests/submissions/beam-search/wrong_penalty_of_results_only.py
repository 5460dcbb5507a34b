# expect: rejected
# problem: beam-search
# mistake: beams are ranked by plain sums while searching, and by the penalised score at the end
# diagnosis: penalty-at-the-end

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("out of range")
    hypotheses = [{"ids": prefix.tolist(), "sum": 0.0, "n": 0, "done": False}]
    for _ in range(steps):
        live = [h for h in hypotheses if not h["done"]]
        if not live:
            break
        out = score(torch.tensor([h["ids"] for h in live]))
        wanted = out.dtype if out.dtype == torch.float64 else torch.float32
        rows = dict(zip(map(id, live), out.double().log_softmax(-1).tolist()))
        options = []
        for h in hypotheses:
            if h["done"]:
                options.append(h)
                continue
            options += [
                {"ids": h["ids"] + [i], "sum": h["sum"] + p, "n": h["n"] + 1, "done": i == end}
                for i, p in enumerate(rows[id(h)])
                if p > float("-inf")
            ]
        hypotheses = sorted(options, key=lambda h: h["sum"], reverse=True)[:beams]

    def final(h):
        return h["sum"] / ((5 + h["n"]) / 6) ** alpha

    hypotheses.sort(key=final, reverse=True)
    width = max(h["n"] for h in hypotheses)
    ids = [h["ids"] + [end] * (width - h["n"]) for h in hypotheses]
    return torch.tensor(ids), torch.tensor([final(h) for h in hypotheses], dtype=wanted)
