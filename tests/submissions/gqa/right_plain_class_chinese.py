# expect: accepted
# problem: gqa
import torch
import torch.nn as nn


class GroupedQueryAttention:
    """分组查询注意力（不继承 nn.Module）"""

    def __init__(self, d_model, num_heads, num_kv_heads):
        assert d_model % num_heads == 0, "维度必须能被头数整除"
        assert num_heads % num_kv_heads == 0, "头数必须能被组数整除"
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.d_k = d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.wv = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q = self.wq(x).reshape(b, n, self.num_heads, -1).transpose(1, 2)
        k = self.wk(x).reshape(b, n, self.num_kv_heads, -1).transpose(1, 2)
        v = self.wv(x).reshape(b, n, self.num_kv_heads, -1).transpose(1, 2)
        # 每组 K、V 复制给组内所有查询头
        r = self.num_heads // self.num_kv_heads
        k = k.unsqueeze(2).expand(-1, -1, r, -1, -1).flatten(1, 2)
        v = v.unsqueeze(2).expand(-1, -1, r, -1, -1).flatten(1, 2)
        s = q.matmul(k.mT) / self.d_k**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        w = s.softmax(-1)
        return self.wo(w.matmul(v).transpose(1, 2).flatten(2)), w


if __name__ == "__main__":
    m = GroupedQueryAttention(32, 8, 2)
    print(m.forward(torch.randn(2, 5, 32))[0].shape)
