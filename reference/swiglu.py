"""A gated feed-forward layer, SwiGLU, without biases."""
# … leading  E model features  F hidden features

import torch
from torch import Tensor, nn


class SwiGLUFeedForward(nn.Module):
    """A feed-forward layer whose hidden features are gated: down(SiLU(gate(x)) · up(x)).

    With W of the gate, V of up and W₂ of down: FFN(x) = (SiLU(x W) ⊙ x V) W₂, where
    SiLU(z) = z · sigmoid(z), the paper's Swish₁.

    Args:
        embed_dim: E, the width of input and output.
        ffn_dim: F, the width between them.

    Source:
        Shazeer 2020, arXiv:2002.05202v1, section 2, equation 6 (FFN_SwiGLU).
    """

    def __init__(self, embed_dim: int, ffn_dim: int) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.gate_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down_proj = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each position alone.

        Args:
            x: (…, E), in the dtype of the parameters.

        Returns:
            (…, E), in the dtype of `x`.

        Raises:
            ValueError: If `x` is not E wide.
        """
        if x.shape[-1] != self.embed_dim:
            raise ValueError(f"x has shape {tuple(x.shape)}; it needs (…, {self.embed_dim})")
        gate = self.gate_proj(x)  # (…, F)
        up = self.up_proj(x)  # (…, F)
        silu = gate * torch.sigmoid(gate)  # sigmoid has a derivative without exp(−gate)
        hidden = silu * up  # (…, F)
        output: Tensor = self.down_proj(hidden)  # (…, E)
        return output
