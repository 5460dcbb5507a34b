# expect: accepted
# problem: swiglu
import torch
from torch import nn


class 门控前馈层(nn.Module):
    def __init__(self, 模型维度, 隐藏维度):
        super().__init__()
        self.门 = nn.Linear(模型维度, 隐藏维度, bias=False)
        self.升维 = nn.Linear(模型维度, 隐藏维度, bias=False)
        self.降维 = nn.Linear(隐藏维度, 模型维度, bias=False)

    def forward(self, 输入):
        门 = self.门(输入)
        门 = 门 * torch.sigmoid(门)  # SiLU：门乘以自己的 sigmoid
        return self.降维(门 * self.升维(输入))


class SwiGLUFeedForward(门控前馈层):
    pass
