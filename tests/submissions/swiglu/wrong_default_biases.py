# expect: rejected
# problem: swiglu
# mistake: Linear has a bias by default
# diagnosis: has-biases
from torch import nn


class MLP(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.c_gate = nn.Linear(n_embd, hidden)
        self.c_fc = nn.Linear(n_embd, hidden)
        self.c_proj = nn.Linear(hidden, n_embd)
        self.swish = nn.SiLU()

    def forward(self, x):
        return self.c_proj(self.swish(self.c_gate(x)) * self.c_fc(x))
