# expect: rejected
# problem: beam-search
# mistake: end tokens in the prefix are taken off the length
import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("bad arguments")
    T = prefix.shape[0]
    tokens = prefix.reshape(1, T).clone().long()
    device = tokens.device
    totals = torch.zeros(1, dtype=torch.float64, device=device)
    done = torch.zeros(1, dtype=torch.bool, device=device)
    dtype = torch.float32

    def penalty(length):
        return ((5.0 + length) / 6.0) ** alpha

    def lengths():
        ended = (tokens != end).sum(1) - T + 1
        full = torch.full_like(ended, tokens.shape[1] - T)
        return torch.where(done, ended.clamp(min=0), full).double()

    for _ in range(steps):
        if bool(done.all()):
            break
        logits = score(tokens[~done].clone())
        if logits.dtype == torch.float64:
            dtype = torch.float64
        logp = torch.log_softmax(logits.double(), dim=-1)
        V = logp.shape[1]
        n = tokens.shape[0]
        # column 0 is "stay as you are", for finished beams only
        table = torch.full((n, V + 1), float("-inf"), dtype=torch.float64, device=device)
        table[~done, 1:] = totals[~done, None] + logp
        table[done, 0] = totals[done]
        length = lengths()
        rank = torch.empty_like(table)
        rank[:, 0] = table[:, 0] / penalty(length)
        rank[:, 1:] = table[:, 1:] / penalty(float(tokens.shape[1] - T + 1))
        flat = torch.round(rank.flatten() * 1e10) / 1e10
        order = torch.sort(flat, descending=True, stable=True).indices[:beams]
        order = order[torch.isfinite(flat[order])]
        parent, column = order // (V + 1), order % (V + 1)
        token = torch.where(column == 0, torch.full_like(column, end), column - 1)
        totals = table.flatten()[order]
        done = done[parent] | (token == end)
        tokens = torch.cat([tokens[parent], token[:, None]], dim=1)
    return tokens, (totals / penalty(lengths())).to(dtype)
