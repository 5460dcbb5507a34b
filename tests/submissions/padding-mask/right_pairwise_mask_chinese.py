# expect: accepted
# problem: padding-mask
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """多头自注意力；填充的行和列都屏蔽，填充行得到 NaN。"""

    def __init__(self, hidden_size, num_heads):
        super(MultiHeadAttention, self).__init__()
        assert hidden_size % num_heads == 0, "hidden_size 必须能被 num_heads 整除"
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        # 线性映射
        self.q_linear = nn.Linear(hidden_size, hidden_size)
        self.k_linear = nn.Linear(hidden_size, hidden_size)
        self.v_linear = nn.Linear(hidden_size, hidden_size)
        self.o_linear = nn.Linear(hidden_size, hidden_size)

    def split_head(self, x):
        batch_size = x.size(0)
        return x.reshape(batch_size, -1, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, hidden_state, attention_mask=None):
        batch_size, seq_len, _ = hidden_state.size()
        query = self.split_head(self.q_linear(hidden_state))
        key = self.split_head(self.k_linear(hidden_state))
        value = self.split_head(self.v_linear(hidden_state))
        scores = torch.matmul(query, key.transpose(-1, -2)) / self.head_dim ** 0.5
        if attention_mask is not None:
            assert attention_mask.shape == (batch_size, seq_len)
            m = attention_mask.bool()
            pair = m[:, None, :, None] & m[:, None, None, :]  # (B, 1, L, L)
            scores = scores.masked_fill(~pair, float("-inf"))
        probs = torch.softmax(scores, dim=-1)
        output = torch.matmul(probs, value)
        output = output.transpose(1, 2).reshape(batch_size, seq_len, -1)
        return self.o_linear(output)
