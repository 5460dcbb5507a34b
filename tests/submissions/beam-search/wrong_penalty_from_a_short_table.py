# expect: rejected
# problem: beam-search
# mistake: the length penalty comes from a table of 64 lengths
import torch

LONGEST = 64


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("beams and steps at least 1, alpha not negative")
    penalty = [((5 + n) / 6) ** alpha for n in range(LONGEST + 1)]

    def divisor(length):
        return penalty[min(length, LONGEST)]

    total = None  # (tokens, length, finished) of each beam, and their sums
    state = [(prefix, 0, False)]
    for _ in range(steps):
        live = [n for n, beam in enumerate(state) if not beam[2]]
        if not live:
            break
        logits = score(torch.stack([state[n][0] for n in live]))
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        logp = torch.log_softmax(logits, dim=-1)
        if total is None:
            total = logp.new_zeros(1)
        sums, made, row = [], [], 0
        for n, (tokens, length, finished) in enumerate(state):
            if finished:
                sums.append(total[n].view(1))
                made.append((n, -1))
            else:
                sums.append(total[n] + logp[row])
                made.extend((n, token) for token in range(logp.shape[1]))
                row += 1
        sums = torch.cat(sums)
        lengths = [state[n][1] + (token >= 0) for n, token in made]
        ranked = sums / sums.new_tensor([divisor(length) for length in lengths])
        order = torch.sort(ranked, descending=True, stable=True).indices.tolist()
        order = [c for c in order if sums[c] > -float("inf")][:beams]
        following = []
        for c in order:
            n, token = made[c]
            if token < 0:
                following.append(state[n])
            else:
                tokens = torch.cat((state[n][0], state[n][0].new_tensor([token])))
                following.append((tokens, lengths[c], token == end))
        state, total, scores = following, sums[order], ranked[order]
    longest = max((len(beam[0]) for beam in state), default=len(prefix))
    result = prefix.new_full((len(state), longest), end)
    for n, beam in enumerate(state):
        result[n, : len(beam[0])] = beam[0]
    return result, scores
