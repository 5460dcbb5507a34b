# expect: rejected
# problem: beam-search
# mistake: torch.topk selects, and promises no order among equal scores
# diagnosis: ties-left-to-topk

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("out of range")
    seqs = prefix[None]
    sums = torch.zeros(1)
    lens = torch.zeros(1)
    done = torch.zeros(1, dtype=torch.bool)
    for _ in range(steps):
        if done.all():
            break
        logits = score(seqs[~done])
        if logits.dtype != torch.float64:
            logits = logits.float()
        V = logits.shape[-1]
        cand = torch.full((len(seqs), V), -torch.inf, dtype=logits.dtype)
        cand[~done] = logits.log_softmax(-1) + sums[~done, None]
        cand[done, end] = sums[done].to(logits.dtype)
        lens = lens + (~done)
        norm = ((5 + lens.to(logits.dtype)) / 6) ** alpha
        values, idx = (cand / norm[:, None]).flatten().topk(min(beams, cand.numel()))
        idx = idx[values > -torch.inf]
        rows = idx // V
        sums = cand.flatten()[idx]
        seqs = torch.cat([seqs[rows], (idx % V)[:, None]], 1)
        lens = lens[rows]
        done = (idx % V) == end
    return seqs, sums / ((5 + lens.to(sums.dtype)) / 6) ** alpha
