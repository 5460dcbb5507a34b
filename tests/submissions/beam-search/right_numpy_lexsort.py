# expect: accepted
# problem: beam-search
"""NumPy in a class: log-sum-exp one after the other in float32, and lexsort."""

import numpy as np
import torch


class BeamSearch:
    def __call__(self, score, prefix, beams, steps, end, alpha=0.0):
        if min(beams, steps) < 1:
            raise ValueError("at least one beam and one step")
        if alpha < 0:
            raise ValueError("alpha")
        past = prefix.detach().cpu().numpy().reshape(1, -1)
        T = past.shape[1]
        sums, lens, fin = np.zeros(1), np.zeros(1, int), np.zeros(1, bool)
        kind = None
        t = 0
        while t < steps and not fin.all():
            live = np.flatnonzero(~fin)
            out = score(torch.from_numpy(past[live].copy()))
            kind = torch.float64 if out.dtype is torch.float64 else torch.float32
            p = out.to(kind).numpy()
            p = p - np.logaddexp.reduce(p, axis=-1, keepdims=True)
            r, c = np.nonzero(np.isfinite(p))
            who = np.concatenate([live[r], np.flatnonzero(fin)])
            what = np.concatenate([c, np.full(fin.sum(), end)])
            s = np.concatenate([sums[live[r]] + p[r, c], sums[fin]])
            n = np.concatenate([lens[live[r]] + 1, lens[fin]])
            rank = s / ((5.0 + n) / 6.0) ** alpha
            best = np.lexsort((what, who, -rank))[:beams]
            past = np.concatenate([past[who[best]], what[best][:, None]], axis=1)
            sums, lens, fin = s[best], n[best], what[best] == end
            value = rank[best]
            t += 1
        return torch.from_numpy(past[:, : T + lens.max()].copy()).long(), torch.tensor(value, dtype=kind)
