"""Talking-heads attention: the heads mix their logits, and their weights."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class TalkingHeadsAttention(nn.Module):
    """Self-attention whose heads are mixed by two maps, H → H each, around the softmax.

    scores = P_l · (q kᵀ / √D) and weights = P_w · softmax(scores), where a map · x stands for
    Σ_g P[h, g] x_g, at each query and key by itself; head_h = weights_h v_h, and the output is
    Concat(head_0, …, head_H−1) W_o. The mask acts on what P_l gave, before the softmax. Head h
    holds features h·D … h·D+D−1 of each projection.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Shazeer, Lan, Cheng, Ding, Hou 2020, arXiv:2003.02436. There P_l and P_w may change the
        number of heads; here it is H throughout.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.p_l = nn.Linear(num_heads, num_heads, bias=False)
        self.p_w = nn.Linear(num_heads, num_heads, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from every position of `x` to every position that `mask` admits.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            mask: Boolean, integer or float, (L, L), (B, 1, 1, L), (B, 1, L, L) or
                (B, H, L, L); a query may not attend where it is 0. For one head alone that
                concerns its own softmax: P_w may still mix in what others see there.

        Returns:
            Output (B, L, E) and the weights after P_w (B, H, L, L), whose rows need not sum to
            one, in the dtype of `x`. A query that may attend to no key in some head gets NaN;
            other queries are not affected.

        Raises:
            ValueError: If `x` is not (B, L, E).
            RuntimeError: If `mask` does not broadcast to (B, H, L, L).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))  # (B, H, L, D)
        v = self._split(self.v_proj(x))  # (B, H, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        scores = self._talk(scores, self.p_l)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = self._talk(weights, self.p_w)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, weights

    def _talk(self, x: Tensor, heads_map: nn.Module) -> Tensor:
        """Return x with its heads mixed, at each query and key by itself."""
        x = x.movedim(1, -1)  # (B, L, L, H)
        return heads_map(x).movedim(-1, 1)  # (B, H, L, L)

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)
