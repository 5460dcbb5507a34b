# expect: accepted
# problem: flash-attention
# a module without parameters, everything in float32 inside, cast back at the end
import torch
import torch.nn as nn


class FlashAttention(nn.Module):
    """Forward pass of FlashAttention, tiling over the key sequence."""

    def __init__(self):
        super().__init__()

    def forward(self, Q, K, V, Bc, is_causal=False):
        if Bc <= 0:
            raise ValueError("Bc must be positive")
        dtype = Q.dtype
        N, d = Q.shape[-2:]
        if K.shape[-1] != d or K.shape[:-1] != V.shape[:-1]:
            raise ValueError("shape mismatch")
        Q, K, V = Q.float(), K.float(), V.float()
        m = torch.full(Q.shape[:-1], float("-inf"))
        l = torch.zeros(Q.shape[:-1])
        O = torch.zeros(Q.shape[:-1] + V.shape[-1:])
        Tc = (K.shape[-2] + Bc - 1) // Bc
        for j in range(Tc):
            Kj = K[..., j * Bc : (j + 1) * Bc, :]
            Vj = V[..., j * Bc : (j + 1) * Bc, :]
            Sij = torch.matmul(Q, Kj.transpose(-1, -2)) / d**0.5
            if is_causal:
                mask = torch.triu(torch.ones(N, Kj.shape[-2], dtype=torch.bool), diagonal=1 - j * Bc)
                Sij = Sij.masked_fill(mask, float("-inf"))
            m_new = torch.max(m, Sij.max(dim=-1).values)
            P = torch.exp(Sij - m_new.unsqueeze(-1))
            correction = torch.exp(m - m_new)
            l = l * correction + P.sum(dim=-1)
            O = O * correction.unsqueeze(-1) + torch.matmul(P, Vj)
            m = m_new
        return (O / l.unsqueeze(-1)).to(dtype)


if __name__ == "__main__":
    x = torch.randn(2, 4, 100, 16)
    print(FlashAttention()(x, x, x, 32).shape)
