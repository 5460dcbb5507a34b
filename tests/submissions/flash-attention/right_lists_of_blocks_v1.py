# expect: accepted
# problem: flash-attention
# both loops, keys outside, state kept as lists of blocks; divides in every step and multiplies again
import torch

NEG_INF = -1e10
EPSILON = 1e-10


def flash_attention_forward(Q, K, V, block_size, causal=False):
    if block_size <= 0:
        raise ValueError("block_size")
    assert Q.shape[-1] == K.shape[-1] and K.shape[-2] == V.shape[-2]
    Q_LEN, K_LEN = Q.shape[-2], K.shape[-2]
    Q_BLOCKS = torch.split(Q, block_size, dim=-2)
    K_BLOCKS = torch.split(K, block_size, dim=-2)
    V_BLOCKS = torch.split(V, block_size, dim=-2)
    O_BLOCKS = [torch.zeros(*q.shape[:-1], V.shape[-1], dtype=Q.dtype, device=Q.device) for q in Q_BLOCKS]
    l_BLOCKS = [torch.zeros_like(q[..., 0])[..., None] for q in Q_BLOCKS]
    m_BLOCKS = [torch.zeros_like(q[..., 0])[..., None] + float("-inf") for q in Q_BLOCKS]

    Tr, Tc = len(Q_BLOCKS), len(K_BLOCKS)
    scale = 1 / Q.shape[-1] ** 0.5

    for j in range(Tc):
        Kj, Vj = K_BLOCKS[j], V_BLOCKS[j]
        for i in range(Tr):
            if causal and i < j:
                continue
            Qi, Oi, li, mi = Q_BLOCKS[i], O_BLOCKS[i], l_BLOCKS[i], m_BLOCKS[i]
            S_ij = torch.einsum("... i d, ... j d -> ... i j", Qi * scale, Kj)
            if causal and i == j:
                n = S_ij.shape[-1]
                S_ij = torch.where(torch.ones(n, n, dtype=torch.bool, device=Q.device).tril(), S_ij, float("-inf"))
            m_block_ij, _ = torch.max(S_ij, dim=-1, keepdim=True)
            mi_new = torch.maximum(m_block_ij, mi)
            P_ij = torch.exp(S_ij - mi_new)
            l_block_ij = torch.sum(P_ij, dim=-1, keepdim=True)
            li_new = torch.exp(mi - mi_new) * li + l_block_ij
            O_BLOCKS[i] = (li / li_new) * torch.exp(mi - mi_new) * Oi + P_ij @ Vj / li_new
            l_BLOCKS[i] = li_new
            m_BLOCKS[i] = mi_new

    O = torch.cat(O_BLOCKS, dim=-2)
    return O, torch.cat(l_BLOCKS, dim=-2), torch.cat(m_BLOCKS, dim=-2)
