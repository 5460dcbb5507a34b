# expect: accepted
# problem: layer-norm
# 按手写 kernel 的写法：先算每行的 均值 与 rstd，再分三项写出梯度
import torch


def 加宽(*张量):
    return [t.to(torch.float32) if t.dtype in (torch.float16, torch.bfloat16) else t for t in 张量]


def 检查(x, *参数):
    for p in 参数:
        if p.dim() != 1 or p.shape[0] != x.shape[-1]:
            raise ValueError("参数的形状应当是 (E,)")


def layer_norm(x, gamma, beta, eps=1e-5):
    检查(x, gamma, beta)
    输入, g, b = 加宽(x, gamma, beta)
    方差, 均值 = torch.var_mean(输入, dim=-1, unbiased=False, keepdim=True)
    return torch.addcmul(b, (输入 - 均值) / torch.sqrt(方差 + eps), g).to(x.dtype)


def rms_norm(x, gamma, eps=1e-6):
    检查(x, gamma)
    输入, g = 加宽(x, gamma)
    长度 = torch.linalg.vector_norm(输入, dim=-1, keepdim=True)
    return (输入 / torch.sqrt(长度**2 / x.shape[-1] + eps) * g).to(x.dtype)


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    检查(x, gamma)
    if dy.shape != x.shape:
        raise ValueError("dy 与 x 的形状应当相同")
    上游, 输入, g = 加宽(dy, x, gamma)
    方差, 均值 = torch.var_mean(输入, dim=-1, unbiased=False, keepdim=True)
    rstd = 1 / torch.sqrt(方差 + eps)
    xhat = (输入 - 均值) * rstd
    dxhat = 上游 * g
    n = x.shape[-1]
    和 = dxhat.sum(-1, keepdim=True)
    内积 = (dxhat * xhat).sum(-1, keepdim=True)
    dx = (n * dxhat - 和 - xhat * 内积) * rstd / n
    前置轴 = list(range(x.dim() - 1))
    dgamma, dbeta = 上游 * xhat, 上游
    if 前置轴:
        dgamma, dbeta = dgamma.sum(前置轴), dbeta.sum(前置轴)
    return [t.to(x.dtype) for t in (dx, dgamma, dbeta)]


def rms_norm_backward(dy, x, gamma, eps=1e-6):
    检查(x, gamma)
    if dy.shape != x.shape:
        raise ValueError("dy 与 x 的形状应当相同")
    上游, 输入, g = 加宽(dy, x, gamma)
    rstd = 1 / torch.sqrt((输入 * 输入).mean(-1, keepdim=True) + eps)
    h = 上游 * g
    dx = rstd * h - rstd**3 * 输入 * (h * 输入).mean(-1, keepdim=True)
    dgamma = (上游 * 输入 * rstd).reshape(-1, x.shape[-1]).sum(0)
    return dx.to(x.dtype), dgamma.to(x.dtype)
