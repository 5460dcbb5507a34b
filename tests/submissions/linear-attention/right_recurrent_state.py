# expect: accepted
# problem: linear-attention
"""Transformers are RNNs: one state, carried from position to position."""
import torch


def phi(x):
    return torch.where(x > 0, x + 1, torch.exp(torch.clamp(x, max=0)))


def linear_attention(Q, K, V, is_causal=False):
    B, H, N, D = Q.shape
    Q, K = phi(Q), phi(K)
    if not is_causal:
        S = K.transpose(-2, -1) @ V
        Z = K.sum(-2)
        return (Q @ S) / (Q * Z[:, :, None]).sum(-1)[..., None]
    S = Q.new_zeros(B, H, D, D)
    Z = Q.new_zeros(B, H, D)
    out = []
    for n in range(N):
        S = S + torch.einsum("bhd,bhe->bhde", K[:, :, n], V[:, :, n])
        Z = Z + K[:, :, n]
        num = torch.einsum("bhd,bhde->bhe", Q[:, :, n], S)
        den = torch.einsum("bhd,bhd->bh", Q[:, :, n], Z)
        out.append(num / den[..., None])
    return torch.stack(out, dim=2)
