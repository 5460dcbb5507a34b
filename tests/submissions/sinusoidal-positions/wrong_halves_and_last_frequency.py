# expect: rejected
# problem: sinusoidal-positions
# diagnosis: table-of-tensor2tensor, odd-width-zero
# mistake: the fairseq table: halves, and a division by half - 1
import math
import torch


def get_embedding(num_embeddings, embedding_dim):
    half_dim = embedding_dim // 2
    emb = math.log(10000) / max(half_dim - 1, 1)
    emb = torch.exp(torch.arange(half_dim, dtype=torch.float) * -emb)
    emb = torch.arange(num_embeddings, dtype=torch.float).unsqueeze(1) * emb.unsqueeze(0)
    emb = torch.cat([torch.sin(emb), torch.cos(emb)], dim=1).view(num_embeddings, -1)
    if embedding_dim % 2 == 1:
        emb = torch.cat([emb, torch.zeros(num_embeddings, 1)], dim=1)
    return emb


def sinusoidal_positional_embedding(length, dim):
    return get_embedding(length, dim)
