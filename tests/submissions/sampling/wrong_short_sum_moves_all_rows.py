# expect: rejected
# problem: sampling
# mistake: where rounding leads past the end in one row, all rows take their last token
import torch


def _wide(t):
    return t.float() if t.dtype in (torch.float16, torch.bfloat16) else t


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    for share in (top_p, min_p):
        if share is not None and not 0 <= share <= 1:
            raise ValueError("top_p and min_p lie in 0 … 1")
    vocabulary = logits.shape[-1]
    wide = _wide(logits)
    if temperature == 0:
        greatest = wide == wide.amax(dim=-1, keepdim=True)
        first = greatest & (greatest.cumsum(dim=-1) == 1)
        return first.to(logits.dtype)
    scores = wide / temperature
    gone = torch.zeros_like(scores, dtype=torch.bool)
    if top_k is not None:
        least = wide.topk(min(top_k, vocabulary), dim=-1).values[..., -1:]
        gone = gone | (wide < least)
    if top_p is not None:
        shares = torch.softmax(scores.detach().masked_fill(gone, float("-inf")), dim=-1)
        ranked, order = shares.sort(dim=-1, descending=True, stable=True)
        before = ranked.double().cumsum(dim=-1) - ranked.double()
        out = before >= top_p
        out[..., 0] = False
        gone = gone | torch.zeros_like(gone).scatter(-1, order, out)
    if min_p is not None:
        shares = torch.softmax(scores.detach().masked_fill(gone, float("-inf")), dim=-1)
        gone = gone | (shares < min_p * shares.amax(dim=-1, keepdim=True))
    return torch.softmax(scores.masked_fill(gone, float("-inf")), dim=-1).to(logits.dtype)


def sample(probabilities, uniform):
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError("one number for each row")
    wide = _wide(probabilities)
    vocabulary = wide.shape[-1]
    ids = (wide.cumsum(dim=-1) <= uniform[..., None]).sum(dim=-1)
    if bool((ids == vocabulary).any()):  # rounding: the sum stays below the number
        ids = vocabulary - 1 - (wide != 0).flip(-1).int().argmax(dim=-1)
    return ids
