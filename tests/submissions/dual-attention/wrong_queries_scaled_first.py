# expect: rejected
# problem: dual-attention
# mistake: q is scaled at once, and the biases are added undivided
# diagnosis: scale-before-biases
import torch


def dual_attention(q, k, v, r, r_w_bias, r_r_bias):
    B, H, L, D = q.shape
    S = k.shape[2]
    q = q * D**-0.5
    rows = []
    for i in range(L):
        end = S - L + i + 1
        row = ((q[:, :, i] + r_w_bias)[:, :, None] * k[:, :, :end]).sum(-1)
        row = row + torch.einsum("bhd,htd->bht", q[:, :, i] + r_r_bias, r[:, S - end :])
        rows.append(torch.softmax(row, -1)[:, :, None] @ v[:, :, :end])
    return torch.cat(rows, 2)
