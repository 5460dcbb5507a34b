# expect: accepted
# problem: beam-search
"""The book-keeping in NumPy, in double precision; torch only where score wants it."""

import numpy as np
import torch


def beam_decode(score, prompt, beam_width, max_steps, eos, alpha=0.0):
    assert beam_width >= 1 and max_steps >= 1 and alpha >= 0
    rows = prompt.numpy()[None, :].copy()
    sums = np.zeros(1)
    made = np.zeros(1, dtype=int)
    over = np.zeros(1, dtype=bool)
    result_type = np.float32

    for _ in range(max_steps):
        logits = score(torch.from_numpy(rows[~over]))
        if logits.dtype == torch.float64:
            result_type = np.float64
        z = logits.double().numpy()
        peak = z.max(axis=1, keepdims=True)
        logp = z - peak - np.log(np.exp(z - peak).sum(axis=1, keepdims=True))
        vocab = logp.shape[1]

        # candidates, in the order in which ties are decided
        parent = np.concatenate(
            [np.full(1 if o else vocab, i) for i, o in enumerate(over)]
        )
        token = np.concatenate([[eos] if o else np.arange(vocab) for o in over])
        gain = np.zeros(len(parent))
        gain[~over[parent]] = logp.reshape(-1)
        total = sums[parent] + gain
        length = made[parent] + ~over[parent]
        rank = total / ((5 + length) / 6) ** alpha

        best = np.argsort(-rank, kind="stable")
        best = best[np.isfinite(total[best])][:beam_width]
        rows = np.concatenate([rows[parent[best]], token[best][:, None]], axis=1)
        sums, made = total[best], length[best]
        over = over[parent[best]] | (token[best] == eos)
        if over.all():
            break
    scores = sums / ((5 + made) / 6) ** alpha
    return torch.from_numpy(rows), torch.from_numpy(scores.astype(result_type))
