# expect: accepted
# problem: split-merge-heads
import torch


def split_heads(features, heads):
    if heads <= 0 or features.shape[-1] % heads != 0:
        raise ValueError("每个头的维度必须是整数")
    parts = torch.split(features, features.shape[-1] // heads, dim=2)
    return torch.stack(parts).swapdims(0, 1)


def combine_heads(tensor):
    # (B, H, L, D) -> (B, L, H, D) -> (B, L, E)
    rows = tensor.movedim(1, -2)
    return rows.reshape(rows.shape[:-2] + (-1,))
