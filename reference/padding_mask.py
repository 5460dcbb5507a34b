"""Multi-head self-attention over a padded batch."""
# B batch  L length  H heads  D head size  E width (hidden_size), E = H·D

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = softmax(qₕ kₕᵀ / √D + M) vₕ.

    M is 0 where the key is a token and −∞ where it is padding, so that padding gets a weight of
    exactly 0. Head h holds features h·D … h·D+D−1 of each projection.

    Args:
        embed_dim: E, the contract's `hidden_size`.
        num_heads: H; divides E.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2; what may not be attended to is set
        to −∞ before the softmax as in section 3.2.3.
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
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(
        self, hidden_state: Tensor, attention_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from every position to the tokens of its own sequence.

        Args:
            hidden_state: (B, L, E), in the dtype of the parameters.
            attention_mask: Boolean, integer or float, (B, L); 1 is a token and 0 is padding.

        Returns:
            Output (B, L, E) and weights (B, H, L, L). A padded position gets an output too, made
            from the tokens; a sequence of nothing but padding gets NaN.

        Raises:
            ValueError: If `hidden_state` is not E wide, or the mask is not (B, L).
        """
        self._check(hidden_state, attention_mask)
        q = self._split(self.q_proj(hidden_state))  # (B, H, L, D)
        k = self._split(self.k_proj(hidden_state))  # (B, H, L, D)
        v = self._split(self.v_proj(hidden_state))  # (B, H, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if attention_mask is not None:
            padding = (attention_mask == 0)[:, None, None]  # (B, 1, 1, L), over the keys
            scores = scores.masked_fill(padding, -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, weights

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)

    def _check(self, hidden_state: Tensor, attention_mask: Tensor | None) -> None:
        if hidden_state.ndim != 3 or hidden_state.shape[-1] != self.embed_dim:
            raise ValueError(
                f"hidden_state has shape {tuple(hidden_state.shape)}; "
                f"it needs (batch, length, {self.embed_dim})"
            )
        if attention_mask is not None and attention_mask.shape != hidden_state.shape[:2]:
            raise ValueError(
                f"attention_mask has shape {tuple(attention_mask.shape)}; "
                f"it needs {tuple(hidden_state.shape[:2])}"
            )
