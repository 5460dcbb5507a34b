# expect: accepted
# problem: split-merge-heads
import torch


def split_heads(x, num_heads):
    """把最后一维拆成多个头，再把头的维度移到前面"""
    batch_size, seq_len, d_model = x.shape
    assert d_model % num_heads == 0, "d_model 必须能被 num_heads 整除"
    d_k = d_model // num_heads
    x = x.contiguous().view(batch_size, seq_len, num_heads, d_k)  # 先拆分
    return x.transpose(1, 2)  # 再转置


def merge_heads(x):
    """拼接所有头"""
    batch_size, num_heads, seq_len, d_k = x.shape
    # 转置之后内存不连续，所以需要 contiguous
    return x.transpose(1, 2).contiguous().view(batch_size, seq_len, num_heads * d_k)


if __name__ == "__main__":
    x = torch.arange(24.0).view(1, 3, 8)
    y = split_heads(x, 2)
    print(y.shape)
    print(torch.equal(merge_heads(y), x))
