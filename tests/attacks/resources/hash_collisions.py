# problem: sdpa
# class: resources
# expect: timeout, rejected
# evidence: changed verdict
# limits: short
import torch

# equal hashes make a dict of these quadratic
class Colliding(int):
    def __hash__(self):
        return 1


TABLE = {Colliding(number): 0 for number in range(50_000)}


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
