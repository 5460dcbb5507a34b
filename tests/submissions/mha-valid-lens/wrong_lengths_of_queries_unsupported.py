# expect: rejected
# problem: mha-valid-lens
# mistake: lengths (N, L) raise
import torch
import torch.nn as nn
import torch.nn.functional as F


def transpose_qkv(X, num_heads):
    """把多个头并入批维度"""
    batch, steps, hiddens = X.size()
    assert hiddens % num_heads == 0
    X = X.view(batch, steps, num_heads, hiddens // num_heads) if X.is_contiguous() else \
        X.contiguous().view(batch, steps, num_heads, hiddens // num_heads)
    return X.transpose(1, 2).contiguous().view(batch * num_heads, steps, -1)


def transpose_output(X, num_heads):
    """逆转 transpose_qkv"""
    rows, steps, depth = X.size()
    assert rows % num_heads == 0
    X = X.contiguous().view(rows // num_heads, num_heads, steps, depth)
    return X.transpose(1, 2).contiguous().view(rows // num_heads, steps, num_heads * depth)


def masked_softmax(X, valid_lens):
    """有效长度之外的分数加上一个很大的负数"""
    if valid_lens is None:
        return F.softmax(X, dim=-1)
    valid_lens = valid_lens.unsqueeze(-1).expand(-1, X.size(1))
    positions = torch.arange(X.size(-1), device=X.device).view(1, 1, -1)
    outside = (positions >= valid_lens.unsqueeze(-1)).to(X.dtype)
    return F.softmax(X + outside * -1e9, dim=-1)


class MultiHeadAttention(nn.Module):
    """输入宽度由惰性层自己推断"""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout,
                 bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.num_heads = num_heads
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.W_q(queries), self.num_heads)
        k = transpose_qkv(self.W_k(keys), self.num_heads)
        v = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        scores = torch.bmm(q, k.permute(0, 2, 1)) / (q.size(-1) ** 0.5)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.W_o(transpose_output(torch.bmm(self.dropout(self.attention_weights), v),
                                         self.num_heads))
