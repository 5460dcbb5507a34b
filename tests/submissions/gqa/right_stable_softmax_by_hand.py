# expect: accepted
# problem: gqa
import torch
from torch import nn


class GQA(nn.Module):
    # 分组查询注意力：手写数值稳定的 softmax
    def __init__(self, hidden_size, num_heads, num_groups):
        super().__init__()
        assert hidden_size % num_heads == 0 and num_heads % num_groups == 0
        self.头数, self.组数 = num_heads, num_groups
        self.维度 = hidden_size // num_heads
        self.W_q = nn.Linear(hidden_size, hidden_size)
        self.W_k = nn.Linear(hidden_size, num_groups * self.维度)
        self.W_v = nn.Linear(hidden_size, num_groups * self.维度)
        self.W_o = nn.Linear(hidden_size, hidden_size)

    def forward(self, x, mask=None):
        q, k, v = (m(x).unflatten(-1, (-1, self.维度)) for m in (self.W_q, self.W_k, self.W_v))
        所属 = torch.arange(self.头数, device=x.device).div(self.头数 // self.组数, rounding_mode="floor")
        k, v = k.index_select(2, 所属), v.index_select(2, 所属)
        分数 = torch.einsum("bihd,bjhd->bhij", q, k) * self.维度**-0.5
        if mask is not None:
            分数 = torch.where(mask.to(torch.bool), 分数, torch.finfo(分数.dtype).min)
        # 减去每行最大值，避免溢出
        分数 = 分数 - 分数.max(dim=-1, keepdim=True).values
        权重 = 分数.exp()
        权重 = 权重 / 权重.sum(-1, keepdim=True)
        return self.W_o(torch.einsum("bhij,bjhd->bihd", 权重, v).flatten(2))


if __name__ == "__main__":
    print(GQA(24, 4, 2)(torch.randn(1, 3, 24)).shape)
