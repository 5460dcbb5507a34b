# expect: rejected
# problem: beam-search
# mistake: topk decides which of equal scores remain in large vocabularies
import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1:
        raise ValueError("beams must be at least 1")
    if steps < 1:
        raise ValueError("steps must be at least 1")
    if alpha < 0:
        raise ValueError("alpha must not be negative")
    device = prefix.device
    tokens = prefix.reshape(1, -1).to(torch.int64)
    T = tokens.shape[1]
    sums = lengths = None
    done = torch.zeros(1, dtype=torch.bool, device=device)
    for step in range(1, steps + 1):
        live = (~done).nonzero().squeeze(1)
        if live.numel() == 0:
            break
        logits = score(tokens[live])
        if logits.dtype not in (torch.float32, torch.float64):
            logits = logits.float()
        logp = logits.log_softmax(-1)
        if sums is None:
            sums = torch.zeros(1, dtype=logp.dtype, device=device)
            lengths = torch.zeros(1, dtype=torch.int64, device=device)
        # of one beam at most `beams` continuations can stay; to sort thousands of tokens for them is slow
        if logp.shape[1] > 256:
            best, ids = logp.topk(min(beams, logp.shape[1]), dim=-1)
        else:
            best, ids = logp, torch.arange(logp.shape[1], device=device).expand(logp.shape)
        # topk promises no order among equals: sort by id, then stably by value
        ids, order = ids.sort(-1)
        best = best.gather(-1, order)
        best, order = best.sort(dim=-1, descending=True, stable=True)
        ids = ids.gather(-1, order)

        width = ids.shape[1]
        total = torch.full((len(done), width), float("-inf"), dtype=logp.dtype, device=device)
        choice = torch.full((len(done), width), end, dtype=torch.int64, device=device)
        total[live] = sums[live, None] + best
        choice[live] = ids
        total[done, 0] = sums[done]
        grown = lengths + (~done)
        rank = total / (((5 + grown) / 6.0) ** alpha).to(total.dtype)[:, None]
        rank, flat = rank.flatten().sort(descending=True, stable=True)
        flat = flat[:beams][rank[:beams] > float("-inf")]
        parent, column = flat // width, flat % width
        sums = total[parent, column]
        taken = choice[parent, column]
        lengths = grown[parent]
        tokens = torch.cat((tokens[parent], taken[:, None]), dim=1)
        done = done[parent] | (taken == end)
    scores = sums / (((5 + lengths) / 6.0) ** alpha).to(sums.dtype)
    return tokens[:, : T + int(lengths.max())], scores
