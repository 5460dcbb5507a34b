"""Dropout of attention weights is random; what a layer makes of it in training is graded exactly.

The share of weights that are dropped, over many independent draws, must lie within 7 sigma, which
chance almost never leaves. A draw allows only a few outputs and gradients, as each weight is either
0 or divided by 1 − p.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import torch
from torch import Tensor

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.assertions import fail
from mha_judge.grading.expecting.expected import leaves

SIGMAS = 7
_COPIES = 400


def nearly(found: Tensor, wanted: Tensor, full: Tensor) -> Tensor:
    """Return which vectors (…, E) are the wanted ones, up to 1e-3 of the size of `full`."""
    norm = torch.linalg.vector_norm
    return torch.lt(norm(found - wanted, dim=-1), 1e-3 * norm(full, dim=-1))


def assert_share(
    hits: Tensor,
    chance: float,
    message: str = "in training the weights are not dropped one by one with probability p",
) -> None:
    """Assert that the share of hits among independent draws is the probability of a hit.

    Raises:
        CheckFailure: With `message`, if it is more than 7 sigma away.
    """
    sigma = (chance * (1 - chance) / hits.numel()) ** 0.5
    share = float(hits.double().mean())
    if abs(share - chance) > SIGMAS * sigma:
        fail(message, f"a share of {share:.4f}; {chance:.4f} is expected, sigma {sigma:.4f}")


def assert_gradients_of_dropped_weights(
    layer: Layer, *inputs: Tensor, p: float, maps: tuple[str, str, str, str]
) -> None:
    """Assert that in training gradients are those of the weights as they were dropped.

    Args:
        layer: One head, no mask; made with a dropout of `p`.
        inputs: One item: query, key and value, or one tensor that is all three; two keys. The
            output of the first query is what is differentiated.
        p: The probability of being dropped, less than 1.
        maps: What the reference calls its maps of query, key, value and output.

    Raises:
        CheckFailure: If an input gets no gradient, or one that no draw leads to.
    """
    reference, _ = layer.references()
    q_map, k_map, v_map, out_map = (getattr(reference, name) for name in maps)
    wanted = []
    for factors in product((0.0, 1 / (1 - p)), repeat=2):
        given = [x[0].double().requires_grad_() for x in inputs]
        query, key, value = given if len(given) == 3 else given * 3
        q, k, v = q_map(query)[0], k_map(key), v_map(value)  # (D,), (2, D), (2, D)
        weights = torch.softmax(k @ q / q.numel() ** 0.5, -1) * torch.tensor(factors).double()
        output = out_map(weights @ v)  # (E,)
        output.sum().backward()
        gradients = [x.grad.flatten() for x in given if x.grad is not None]
        wanted.append(torch.cat([output.detach(), *gradients]))

    copies = [x.repeat(_COPIES, 1, 1) for x in inputs]
    cotangent = torch.zeros(_COPIES, inputs[0].shape[1], output.numel())
    cotangent[:, 0] = 1
    outputs, found = _in_training(layer, copies, range(len(inputs)), cotangent)
    joined = torch.cat([one.double().flatten(1) for one in (outputs[:, 0], *found)], dim=1)
    near = [nearly(joined, one, wanted[-1]) for one in wanted]
    if not torch.stack(near).any(0).all():
        fail("in training the gradients are not those of the weights as they were dropped")


def assert_gradients_of_long_dropped_weights(layer: Layer, q: Tensor, k: Tensor, v: Tensor) -> None:
    """Assert the same of inputs that are too long for all draws to be tried.

    Without biases the output is linear in the values, whatever was dropped. So for any gradient g
    that comes in, ⟨output, g⟩ is ⟨v, gradient of v⟩.

    Args:
        layer: No mask; made with a dropout.
        q: Queries (B, L, E).
        k: Keys (B, S, E).
        v: Values (B, S, E).

    Raises:
        CheckFailure: If the values get no gradient, or one of other draws.
    """
    layer.without_biases()
    cotangent = q.flip(1)
    output, (gradient,) = _in_training(layer, (q, k, v), (2,), cotangent)
    forward, back = (output.double() * cotangent).sum(), (gradient.double() * v).sum()
    if not abs(forward - back) <= 1e-5 * float(output.norm()) * float(cotangent.norm()):
        fail("in training the gradients are not those of the weights as they were dropped")


def _in_training(
    layer: Layer, inputs: Sequence[Tensor], wrt: Sequence[int], cotangent: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """Return the output of a call in training, of the shape of `cotangent`, and its gradients."""
    layer.train(True)
    value, drawn = layer.drawn_gradients(*inputs, wrt=wrt, cotangents=[cotangent])
    output = next((one for one in leaves(value) if isinstance(one, Tensor)), None)
    if output is None or output.shape != cotangent.shape:
        fail("in training the output has another shape than in eval()")
    found = [gradient for gradient in drawn if gradient is not None]
    if [one.shape for one in found] != [inputs[place].shape for place in wrt]:
        fail("in training no gradient reaches one of the inputs")
    return output, found
