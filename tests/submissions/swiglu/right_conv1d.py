# expect: accepted
# problem: swiglu
from torch import nn


class GatedFFN(nn.Module):
    """Convolutions of size 1 over the positions, whatever axes these have."""

    def __init__(self, channels, hidden):
        super().__init__()
        self.conv_gate = nn.Conv1d(channels, hidden, 1, bias=False)
        self.conv_up = nn.Conv1d(channels, hidden, kernel_size=1, bias=False)
        self.conv_down = nn.Conv1d(hidden, channels, kernel_size=1, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        rows = x.reshape(1, -1, x.shape[-1]).transpose(1, 2)  # (1, E, rows)
        y = self.conv_down(self.act(self.conv_gate(rows)).mul(self.conv_up(rows)))
        return y.transpose(1, 2).reshape(x.shape)
