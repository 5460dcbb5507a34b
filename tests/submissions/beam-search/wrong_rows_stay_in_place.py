# expect: rejected
# problem: beam-search
# mistake: the chosen tokens are appended to the rows as they stand, whatever beam they continue
# diagnosis: wrong-histories

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("out of range")
    tokens, totals = prefix[None, :], torch.zeros(1)
    lengths, done = torch.zeros(1), torch.tensor([False])
    for _ in range(steps):
        logits = score(tokens[done == False])  # noqa: E712
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        logs = torch.nn.functional.log_softmax(logits, -1)
        table = torch.full((tokens.shape[0], logs.shape[1]), -torch.inf, dtype=logs.dtype)
        table[~done] = logs + totals[~done].unsqueeze(-1)
        table[done, end] = totals[done].to(logs.dtype)
        lengths = torch.where(done, lengths, lengths + 1)
        scaled = table / torch.pow((lengths.to(logs.dtype) + 5) / 6, alpha).unsqueeze(-1)
        order = torch.argsort(scaled.flatten(), descending=True, stable=True)[:beams]
        order = order[scaled.flatten()[order].isfinite()]
        if len(order) > len(tokens):
            missing = len(order) - len(tokens)
            tokens = torch.cat([tokens, tokens[-1:].repeat(missing, 1)])
        tokens = torch.cat([tokens[: len(order)], (order % logs.shape[1])[:, None]], dim=1)
        totals = table.flatten()[order]
        lengths = lengths[order // logs.shape[1]]
        done = order % logs.shape[1] == end
        if done.all():
            break
    return tokens, totals / torch.pow((lengths.to(totals.dtype) + 5) / 6, alpha)
