# expect: rejected
# problem: sliding-window
# mistake: every chunk attends to itself alone
# diagnosis: within-blocks
import torch


def sliding_window_attention(q, k, v, window):
    outs = []
    for qc, kc, vc in zip(q.split(window, 2), k.split(window, 2), v.split(window, 2)):
        s = qc @ kc.transpose(-1, -2) / qc.shape[-1] ** 0.5
        hidden = torch.ones(s.shape[-2:]).triu(1).bool()
        outs.append(s.masked_fill(hidden, float("-inf")).softmax(-1) @ vc)
    return torch.cat(outs, 2)
