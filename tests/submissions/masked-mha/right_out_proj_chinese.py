# expect: accepted
# problem: masked-mha
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """多头注意力"""

    def __init__(self, hidden_size, num_heads, dropout=0.0):
        super().__init__()
        assert hidden_size % num_heads == 0, "hidden_size 必须能整除 num_heads"
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        # 初始化 Q、K、V 投影矩阵
        self.query_linear = nn.Linear(hidden_size, hidden_size)
        self.key_linear = nn.Linear(hidden_size, hidden_size)
        self.value_linear = nn.Linear(hidden_size, hidden_size)
        # 输出线性层
        self.output_linear = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, attention_mask=None):
        batch_size = query.size(0)
        q = self.split_head(self.query_linear(query))
        k = self.split_head(self.key_linear(key))
        v = self.split_head(self.value_linear(value))

        scores = torch.matmul(q, k.transpose(-1, -2)) / torch.sqrt(
            torch.tensor(self.head_dim, dtype=q.dtype)
        )
        if attention_mask is not None:
            # 0 的位置不参与计算
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        probs = self.dropout(torch.softmax(scores, dim=-1))
        out = torch.matmul(probs, v)
        out = out.transpose(1, 2).contiguous().view(batch_size, -1, self.num_heads * self.head_dim)
        return self.output_linear(out), probs

    def split_head(self, x):
        batch_size = x.size(0)
        return x.view(batch_size, -1, self.num_heads, self.head_dim).transpose(1, 2)


if __name__ == "__main__":
    mha = MultiHeadAttention(32, 4)
    y, w = mha(*[torch.randn(2, 5, 32)] * 3)
    print("输出", y.shape, "权重", w.shape)
