# expect: rejected
# problem: sparse-attention
# mistake: a fill of −1e4, which scores may be below
import torch
import torch.nn.functional as F


def create_sparse_mask(seq_len, window, stride, global_tokens):
    row = torch.arange(seq_len).view(-1, 1)
    col = torch.arange(seq_len).view(1, -1)
    diff = (row - col).abs()
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    mask = mask.masked_fill(diff <= window, True).masked_fill(diff % stride == 0, True)
    mask[:global_tokens] = True
    mask[:, :global_tokens] = True
    return mask


def sparse_self_attention(query_states, key_states, value_states, attention_mask):
    scores = torch.matmul(query_states, key_states.transpose(2, 3)) / query_states.shape[-1] ** 0.5
    bias = (~attention_mask).to(scores.dtype) * -1e4
    probs = F.softmax(scores + bias, dim=-1, dtype=torch.float32).to(query_states.dtype)
    return torch.matmul(probs, value_states)
