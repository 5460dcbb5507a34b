# expect: rejected
# problem: beam-search
# mistake: for V > 256 each beam is first cut to its `beams` best tokens with torch.topk, which does not keep the lower id among equals
import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("beams, steps or alpha out of range")
    live = [(prefix.tolist(), 0.0, 0, False)]  # tokens, sum, length, finished
    dtype = torch.float32
    for _ in range(steps):
        rows = [b for b in live if b[3] is False]
        if not rows:
            break
        logits = score(torch.tensor([b[0] for b in rows], dtype=torch.int64, device=prefix.device))
        dtype = logits.dtype if logits.dtype == torch.float64 else torch.float32
        logp = torch.log_softmax(logits.to(dtype), -1)
        V = logp.shape[1]
        sums, lens, owner, token = [], [], [], []
        n = 0
        for b, beam in enumerate(live):
            if beam[3]:
                sums.append(torch.tensor([beam[1]], dtype=dtype))
                lens.append(torch.tensor([beam[2]]))
                owner.append(torch.tensor([b]))
                token.append(torch.tensor([-1]))
            else:
                if V > 256 and beams < V:  # more than `beams` from one beam can never be kept
                    best, ids = logp[n].cpu().topk(beams)
                else:
                    best, ids = logp[n].cpu(), torch.arange(V)
                sums.append(best + beam[1])
                lens.append(torch.full(ids.shape, beam[2] + 1))
                owner.append(torch.full(ids.shape, b))
                token.append(ids)
                n += 1
        sums, lens, owner, token = map(torch.cat, (sums, lens, owner, token))
        rank = sums / ((5 + lens.to(dtype)) / 6) ** alpha
        order = torch.sort(rank, descending=True, stable=True).indices[:beams]
        new = []
        for c in order.tolist():
            if rank[c] == float("-inf"):
                continue
            old, t = live[owner[c]], int(token[c])
            new.append(old if t < 0 else (old[0] + [t], sums[c].item(), int(lens[c]), t == end))
        live = new
    width = max(len(b[0]) for b in live)
    tokens = torch.tensor([b[0] + [end] * (width - len(b[0])) for b in live], dtype=torch.int64, device=prefix.device)
    scores = torch.tensor([b[1] / ((5 + b[2]) / 6) ** alpha for b in live], dtype=dtype, device=prefix.device)
    return tokens, scores
