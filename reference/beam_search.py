"""Beam search over a language model: sums of log-probabilities, an end token, a length penalty."""
# V size of the vocabulary  T tokens of the prefix  B beams  t tokens made so far

from collections.abc import Callable

import torch
from torch import Tensor


def beam_search(
    score: Callable[[Tensor], Tensor],
    prefix: Tensor,
    beams: int,
    steps: int,
    end: int,
    alpha: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return the best continuations of a prefix that a search with a few beams finds.

    With y the tokens after the prefix x, the end token among them, beams are ranked by

        s(y) = log P(y | x) / lp(y),   lp(y) = ((5 + |y|) / 6)^α

    Each step extends every live beam by every token. Of these and the finished beams, which stay
    as they are, the best B remain. Of equal ones the first remains, in the order of the beams they
    come from, and then of the tokens.

    Args:
        score: From token ids (N, T + t), int64, to logits (N, V); called once for a step, with the
            live beams.
        prefix: (T,), int64, at least one token.
        beams: How many beams are kept, at least 1.
        steps: How many tokens a beam gets at most, at least 1.
        end: The token that finishes a beam.
        alpha: The exponent of the length penalty, at least 0.

    Returns:
        Tokens (B, T + t), int64, with the prefix, padded with `end` on the right; scores (B,), in
        the dtype of the logits, but float32 for half precision. The best is first. B is less than
        `beams` only where there are no more continuations of probability above 0.

    Raises:
        ValueError: If `beams` or `steps` is less than 1, or `alpha` is negative.

    Source:
        Wu et al. 2016, arXiv:1609.08144, section 7, equation 14, without its coverage penalty.
    """
    if beams < 1:
        raise ValueError(f"{beams} beams; at least 1 is needed")
    if steps < 1:
        raise ValueError(f"{steps} steps; at least 1 is needed")
    if alpha < 0:
        raise ValueError(f"alpha of {alpha}; it must not be negative")

    tokens = prefix.unsqueeze(0)  # (B, T)
    totals = torch.zeros(1)  # (B,)
    lengths = torch.zeros(1, dtype=torch.int64)  # (B,)
    done = torch.zeros(1, dtype=torch.bool)  # (B,)
    for _ in range(steps):
        logits = score(tokens[~done])  # (N, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        logs = logits.log_softmax(-1)
        size = logs.shape[-1]
        grown = logs.new_full((len(tokens), size), -torch.inf)  # (B, V)
        grown[~done] = totals[~done].unsqueeze(1) + logs
        grown[done, end] = totals[done].to(logs.dtype)
        lengths = lengths + ~done
        ranks = grown / _penalty(lengths, alpha, logs.dtype).unsqueeze(1)  # (B, V)
        order = ranks.flatten().sort(descending=True, stable=True).indices[:beams]  # (B,)
        order = order[grown.flatten()[order] > -torch.inf]
        parents, added = order // size, order % size
        tokens = torch.cat([tokens[parents], added.unsqueeze(1)], dim=1)  # (B, T + t)
        totals = grown.flatten()[order]
        lengths = lengths[parents]
        done = added == end  # a finished beam gets another end token, as padding
        if done.all():
            break
    return tokens, totals / _penalty(lengths, alpha, totals.dtype)


def _penalty(lengths: Tensor, alpha: float, dtype: torch.dtype) -> Tensor:
    """Return lp for each length, (B,)."""
    return ((5 + lengths.to(dtype)) / 6) ** alpha
