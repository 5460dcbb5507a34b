"""The reference against a plain cache: one growing tensor for each sequence."""

import torch
from reference.paged_kv_cache import PagedKVCache

WIDTH = (3, 5)


def cases():
    """Yield a name, the reference's keys or values and those of the plain cache, (H, T, D)."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    paged = PagedKVCache(13, 4, *WIDTH)
    torch.set_default_dtype(before)
    plain = {}
    script = [("a", 3), ("b", 5), ("a", 2), ("b", None), ("c", 9), ("a", 7), ("c", 4), ("b", 1)]
    for sequence, tokens in script:
        if tokens is None:
            paged.free(sequence)
            del plain[sequence]
            continue
        k, v = (torch.randn(WIDTH[0], tokens, WIDTH[1], dtype=torch.float64) for _ in range(2))
        paged.append(sequence, k, v)
        old = plain.get(sequence, (k[:, :0], v[:, :0]))
        plain[sequence] = tuple(torch.cat(pair, 1) for pair in zip(old, (k, v), strict=True))
    for sequence, (k, v) in plain.items():
        own = paged.gather(sequence)
        yield f"a plain cache, keys of {sequence}", own[0], k
        yield f"a plain cache, values of {sequence}", own[1], v
