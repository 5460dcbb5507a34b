# expect: accepted
# problem: sampling
# NumPy decides which tokens stay, row by row; torch computes the probabilities
import numpy as np
import torch


def _keep(row, temperature, top_k, top_p, min_p):
    x = row.astype(np.float64) / temperature
    keep = np.isfinite(x)
    if top_k is not None:
        kth = np.sort(x)[::-1][min(top_k, len(x)) - 1]
        keep &= x >= kth
    w = np.where(keep, np.exp(x - x.max()), 0.0)
    w /= w.sum()
    if top_p is not None:
        total, inside = 0.0, np.zeros(len(x), dtype=bool)
        for i in np.argsort(-w):
            inside[i] = True
            total += w[i]
            if total >= top_p:
                break
        keep &= inside
        w = np.where(keep, w, 0.0)
        w /= w.sum()
    if min_p is not None:
        keep &= w >= min_p * w.max()
    return keep


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0 or (top_k is not None and top_k <= 0):
        raise ValueError("temperature or top_k")
    for p in (top_p, min_p):
        if p is not None and (p < 0 or p > 1):
            raise ValueError("a probability")
    V = logits.shape[-1]
    flat = logits.reshape(-1, V)
    out = []
    for r in range(flat.shape[0]):
        if temperature == 0:
            one = torch.zeros(V, dtype=logits.dtype)
            one[int(flat[r].argmax())] = 1
            out.append(one)
            continue
        row = flat[r].detach().to(torch.float64).numpy()
        keep = torch.from_numpy(_keep(row, temperature, top_k, top_p, min_p))
        z = flat[r].double()[keep] / temperature
        e = (z - z.max().detach()).exp()
        full = torch.zeros(V, dtype=torch.float64).masked_scatter(keep, e / e.sum())
        out.append(full.to(logits.dtype))
    return torch.stack(out).reshape(logits.shape)


def sample(probabilities, uniform):
    assert uniform.shape == probabilities.shape[:-1], "shapes"
    V = probabilities.shape[-1]
    rows = probabilities.detach().double().reshape(-1, V).tolist()
    ids = []
    numbers = uniform.detach().double().reshape(-1).tolist()
    for row, u in zip(rows, numbers, strict=True):
        chosen = None
        for i, p in enumerate(row):
            if p > 0:
                chosen = i
                u -= p
                if u < 0:
                    break
        ids.append(chosen)
    return torch.tensor(ids, dtype=torch.int64).reshape(uniform.shape)
