# expect: rejected
# problem: sdpa
# mistake: returns no weights
# diagnosis: output-only
def sdpa(q, k, v, mask=None):
    # scale q and not the scores: fewer multiplications
    q = q * q.shape[-1] ** -0.5
    att = q @ k.transpose(-1, -2)
    if mask is not None:
        att = att.masked_fill(~mask.bool(), float("-inf"))
    return att.softmax(-1) @ v
