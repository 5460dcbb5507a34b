# expect: rejected
# problem: beam-search
# mistake: beams are told apart by their ids written as one: 1 12 is 11 2
import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("bad arguments")
    start = [int(t) for t in prefix]
    device = prefix.device
    live = [dict(tokens=[], total=None, done=False)]
    pool = live
    dtype = None
    for _ in range(steps):
        alive = [b for b in pool if not b["done"]]
        if not alive:
            break
        ids = torch.tensor([start + b["tokens"] for b in alive], dtype=torch.int64, device=device)
        logits = score(ids)
        if dtype is None:
            dtype = torch.float64 if logits.dtype == torch.float64 else torch.float32
        logp = torch.log_softmax(logits.to(torch.float64), dim=-1)
        candidates = []
        row = 0
        for place, beam in enumerate(pool):
            if beam["done"]:
                length = len(beam["tokens"])
                rank = float(beam["total"]) / ((5 + length) / 6) ** alpha
                candidates.append((-round(rank, 10), place, -1, beam, float(beam["total"])))
                continue
            length = len(beam["tokens"]) + 1
            sums = logp[row] + (beam["total"] or 0.0)
            row += 1
            count = min(beams + 200, sums.numel())
            order = torch.sort(sums, descending=True, stable=True).indices[:count]
            for token in order.tolist():
                total = float(sums[token])
                if total == float("-inf"):
                    continue
                rank = total / ((5 + length) / 6) ** alpha
                candidates.append((-round(rank, 10), place, token, beam, total))
        candidates.sort(key=lambda c: c[:3])
        pool, seen = [], set()
        for _, _, token, beam, total in candidates:
            tokens = beam["tokens"] if token < 0 else beam["tokens"] + [token]
            key = (len(tokens), "".join(str(t) for t in tokens))
            if key in seen:
                continue
            seen.add(key)
            done = beam["done"] or token == end
            pool.append(dict(tokens=tokens, total=total, done=done))
            if len(pool) == beams:
                break
    longest = max(len(b["tokens"]) for b in pool)
    rows = [start + b["tokens"] + [end] * (longest - len(b["tokens"])) for b in pool]
    scores = [b["total"] / ((5 + len(b["tokens"])) / 6) ** alpha for b in pool]
    return (torch.tensor(rows, dtype=torch.int64, device=device),
            torch.tensor(scores, dtype=dtype, device=device))
