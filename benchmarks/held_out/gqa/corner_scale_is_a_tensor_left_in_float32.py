# problem: gqa
# wrong: bfloat16 and float16 are graded; here the scale is a plain float32 tensor of shape (1,) that .to() does not convert, so scores and values differ in dtype
import torch
import torch.nn as nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)
        self.scale = torch.sqrt(torch.FloatTensor([self.head_dim]))

    def forward(self, x, mask=None):
        batch_size = x.shape[0]
        Q = self.W_q(x).view(batch_size, -1, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        K = self.W_k(x).view(batch_size, -1, self.num_kv_heads, self.head_dim).permute(0, 2, 1, 3)
        V = self.W_v(x).view(batch_size, -1, self.num_kv_heads, self.head_dim).permute(0, 2, 1, 3)
        K = torch.repeat_interleave(K, self.num_heads // self.num_kv_heads, dim=1)
        V = torch.repeat_interleave(V, self.num_heads // self.num_kv_heads, dim=1)
        energy = torch.matmul(Q, K.permute(0, 1, 3, 2)) / self.scale.to(x.device)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e10)
        attention = torch.softmax(energy, dim=-1)
        out = torch.matmul(attention, V).permute(0, 2, 1, 3).contiguous()
        return self.W_o(out.view(batch_size, -1, self.num_heads * self.head_dim))
