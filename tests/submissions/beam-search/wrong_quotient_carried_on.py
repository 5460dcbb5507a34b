# expect: rejected
# problem: beam-search
# mistake: the divided score takes the place of the sum in the next step
# diagnosis: score-carried-on
import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("beams, steps, alpha")
    T = prefix.shape[0]
    tokens = prefix[None].clone()
    total = torch.zeros(1, dtype=torch.float64)
    length = torch.zeros(1, dtype=torch.long)
    done = torch.zeros(1, dtype=torch.bool)
    for step in range(steps):
        if done.all():
            break
        live = torch.nonzero(~done)[:, 0]
        logits = score(tokens[live])
        dtype = torch.float64 if logits.dtype == torch.float64 else torch.float32
        logp = torch.log_softmax(logits.to(dtype), dim=-1)
        V = logp.shape[-1]
        total = total.to(dtype)
        cand = torch.full((len(tokens), V), -torch.inf, dtype=dtype)
        cand[live] = total[live, None] + logp
        cand[done, end] = total[done]
        new_length = length + (~done).long()
        penalty = ((5 + new_length.to(dtype)) / 6) ** alpha
        value = torch.where(done[:, None], cand, cand / penalty[:, None]).flatten()
        ranked, order = value.sort(descending=True, stable=True)
        order = order[ranked > -torch.inf][:beams]
        parent, token = order // V, order % V
        tokens = torch.cat((tokens[parent], token[:, None]), dim=1)
        total, length = value[order], new_length[parent]
        done = done[parent] | (token == end)
    scores = total
    return tokens[:, : T + int(length.max())], scores
