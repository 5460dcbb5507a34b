# expect: rejected
# problem: beam-search
# mistake: the model is called once for each beam
# diagnosis: called-for-each-beam

import torch


def beam_search(model, prompt, beam_size, max_steps, eos_id, length_penalty=0.0):
    if beam_size < 1 or max_steps < 1 or length_penalty < 0:
        raise ValueError
    norm = lambda n: ((5 + n) / 6) ** length_penalty
    pool = [(prompt.tolist(), 0.0, 0, False)]
    for _ in range(max_steps):
        grown = []
        for ids, total, n, over in pool:
            if over:
                grown.append((ids, total, n, True))
                continue
            out = model(torch.tensor([ids]))
            dtype = torch.promote_types(out.dtype, torch.float32)
            for token, log in enumerate(out[0].double().log_softmax(0).tolist()):
                if log > -float("inf"):
                    grown.append((ids + [token], total + log, n + 1, token == eos_id))
        pool = sorted(grown, key=lambda h: -h[1] / norm(h[2]))[:beam_size]
        if all(h[3] for h in pool):
            break
    longest = max(h[2] for h in pool)
    tokens = [ids + [eos_id] * (longest - n) for ids, _, n, _ in pool]
    return torch.tensor(tokens), torch.tensor([t / norm(n) for _, t, n, _ in pool], dtype=dtype)
