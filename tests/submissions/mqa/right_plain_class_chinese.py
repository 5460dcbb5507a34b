# expect: accepted
# problem: mqa
import torch
import torch.nn as nn


class MultiQueryAttention:
    """多查询注意力：所有查询头共用一组键和值"""

    def __init__(self, hidden_dim, nums_head):
        assert hidden_dim % nums_head == 0, "hidden_dim 必须能被 nums_head 整除"
        self.nums_head = nums_head
        self.head_dim = hidden_dim // nums_head
        self.Wq = nn.Linear(hidden_dim, hidden_dim)
        self.Wk = nn.Linear(hidden_dim, self.head_dim)
        self.Wv = nn.Linear(hidden_dim, self.head_dim)
        self.Wo = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, X, mask=None):
        批, 长, 宽 = X.shape
        q = self.Wq(X).reshape(批, 长, self.nums_head, self.head_dim).permute(0, 2, 1, 3)
        k = self.Wk(X)[:, None].expand(-1, self.nums_head, -1, -1)  # 不复制内存
        v = self.Wv(X)[:, None].expand(-1, self.nums_head, -1, -1)
        分数 = torch.matmul(q, k.permute(0, 1, 3, 2)) / self.head_dim**0.5
        if mask is not None:
            分数 = 分数.masked_fill(mask == 0, -1e20)
        权重 = torch.softmax(分数, dim=-1)
        return self.Wo(torch.matmul(权重, v).permute(0, 2, 1, 3).reshape(批, 长, 宽)), 权重


if __name__ == "__main__":
    print(MultiQueryAttention(64, 8).forward(torch.randn(2, 5, 64))[0].shape)
