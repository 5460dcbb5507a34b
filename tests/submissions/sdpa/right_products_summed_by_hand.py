# expect: accepted
# problem: sdpa
"""No matmul at all: broadcast, multiply, sum."""
import torch

NEG = -1e9


def dot_product_attention(queries, keys, values, mask=None):
    if queries.size(-1) != keys.size(-1) or keys.size(-2) != values.size(-2):
        raise ValueError("shapes do not fit")
    depth = queries.size(-1)
    scores = (queries.unsqueeze(-2) * keys.unsqueeze(-3)).sum(-1)
    scores = scores * (1 / depth) ** 0.5
    if mask is not None:
        keep = mask.to(scores.dtype)
        scores = keep * scores + (1 - keep) * NEG
    top, _ = scores.max(dim=-1, keepdim=True)
    unnormalised = (scores - top).exp()
    weights = unnormalised / unnormalised.sum(dim=-1, keepdim=True)
    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(-2), weights


def main():
    q = torch.rand(2, 3)
    print(dot_product_attention(q, q, q))


if __name__ == "__main__":
    main()
