# expect: rejected
# problem: mla-full
# mistake: single steps absorb the values map without its bias
import torch
from torch import nn


class RotaryLatentAttention(nn.Module):
    """One small map for every head; single steps absorb the up maps, longer calls expand."""

    def __init__(self, d_model, num_heads, q_lora_rank, kv_lora_rank, d_rope):
        super().__init__()
        assert d_model % num_heads == 0
        assert d_rope % 2 == 0
        d = d_model // num_heads
        self.scale = (d + d_rope) ** -0.5

        def many(a, b):
            return nn.ModuleList(nn.Linear(a, b) for _ in range(num_heads))

        self.q_down = nn.Linear(d_model, q_lora_rank)
        self.q_up = many(q_lora_rank, d)
        self.q_rope = many(q_lora_rank, d_rope)
        self.kv_down = nn.Linear(d_model, kv_lora_rank)
        self.k_rope = nn.Linear(d_model, d_rope)
        self.k_up = many(kv_lora_rank, d)
        self.v_up = many(kv_lora_rank, d)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        old = cache[0].shape[1] if cache is not None else 0
        at = torch.arange(old, old + x.shape[1], device=x.device)
        c, shared = self.kv_down(x), turn(self.k_rope(x), at)
        if cache is not None:
            c, shared = torch.cat([cache[0], c], 1), torch.cat([cache[1], shared], 1)
        latent = self.q_down(x)
        blocked = torch.arange(c.shape[1], device=x.device)[None] > at[:, None]
        heads = []
        for q_up, q_rope, k_up, v_up in zip(
            self.q_up, self.q_rope, self.k_up, self.v_up, strict=True
        ):
            q = q_up(latent)
            absorbed = x.shape[1] == 1
            s = (q @ k_up.weight) @ c.mT if absorbed else q @ k_up(c).mT
            s = torch.baddbmm(s, turn(q_rope(latent), at), shared.mT) * self.scale
            w = torch.softmax(s.masked_fill(blocked, float("-inf")), -1)
            heads.append(w @ c @ v_up.weight.T if absorbed else w @ v_up(c))
        return [self.out(torch.cat(heads, -1)), [c, shared]]


def turn(x, at):
    n = x.shape[-1] // 2
    angle = at.double()[:, None] * torch.pow(1e4, -torch.arange(n, device=x.device).double() / n)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.split(n, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
