# expect: rejected
# problem: swiglu
# mistake: SiLU of the product of both maps
# diagnosis: silu-of-product
from torch import nn


class FFN(nn.Sequential):
    class Product(nn.Module):
        def __init__(self, width, hidden):
            super().__init__()
            self.a = nn.Linear(width, hidden, bias=False)
            self.b = nn.Linear(width, hidden, bias=False)

        def forward(self, x):
            return self.a(x) * self.b(x)

    def __init__(self, width, hidden):
        super().__init__(
            self.Product(width, hidden), nn.SiLU(), nn.Linear(hidden, width, bias=False)
        )
