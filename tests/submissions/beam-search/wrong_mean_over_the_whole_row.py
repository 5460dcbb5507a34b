# expect: rejected
# problem: beam-search
# mistake: the length in the penalty is that of the whole row, prefix and all
# diagnosis: length-with-prefix

import torch


class BeamSearcher:
    def __call__(self, score, prefix, beams, steps, end, alpha=0.0):
        if beams < 1 or steps < 1 or alpha < 0:
            raise ValueError("out of range")
        hyps = [(prefix.tolist(), 0.0, False)]
        for _ in range(steps):
            live = [row for row, _, done in hyps if not done]
            if not live:
                break
            logits = score(torch.tensor(live))
            dtype = torch.float64 if logits.dtype == torch.float64 else torch.float32
            logs = logits.double().log_softmax(-1).tolist()[::-1]
            new = []
            for row, total, done in hyps:
                if done:
                    new.append((row, total, True))
                else:
                    for token, log in enumerate(logs.pop()):
                        new.append((row + [token], total + log, token == end))
            new = [h for h in new if h[1] != float("-inf")]
            hyps = sorted(new, key=lambda h: self.rank(h, alpha), reverse=True)[:beams]
        width = max(len(row) for row, _, _ in hyps)
        tokens = torch.tensor([row + [end] * (width - len(row)) for row, _, _ in hyps])
        return tokens, torch.tensor([self.rank(h, alpha) for h in hyps], dtype=dtype)

    def rank(self, hyp, alpha):
        row, total, _ = hyp
        return total / ((5 + len(row)) / 6) ** alpha
