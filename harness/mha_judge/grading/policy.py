"""Whether the answer was written from scratch, and without Python loops.

Two kinds of evidence: the source, read in the judge, and what the worker saw itself do. Both are
aids, not proof: a hostile file could hide from the one and falsify the other. Neither touches
the checks on values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mha_judge.grading.failures import CheckFailure
from mha_judge.report.models import PolicyFinding
from mha_judge.report.untrusted import clean_line

if TYPE_CHECKING:
    from mha_judge.grading.candidate import Candidate
    from mha_judge.grading.function import Function
    from mha_judge.grading.layer import Layer
    from mha_judge.grading.replies import Observed

_FUSED_NAMES = re.compile(
    r"scaled_dot_product|flash_attn|flash_attention|flex_attention|efficient_attention|"
    r"multi_head_attention_forward|native_multi_head_attention|MultiheadAttention$|"
    r"TransformerEncoder|TransformerDecoder|^Transformer$|_fused_sdp|memory_efficient|xformers|"
    r"cudnn_attention|fused_attention|varlen_attn|sdpa_kernel"
)
_FROM_SCRATCH = "the problem asks for attention written from scratch"
_LIBRARIES = ("torch", "nn", "F", "xformers", "flash_attn", "transformers", "keras")


@lru_cache(maxsize=8)  # several checks of one grade ask
def fused_in_source(source: str) -> tuple[PolicyFinding, ...]:
    """Return the places of a source that name fused or official attention of a library.

    Names that the file defines itself are its own: only attributes of something imported,
    imported names and texts handed to `getattr` count.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # the worker could load it: nested deeper than can be read here, or of another Python
        message = f"the source cannot be read, so it may hide anything; {_FROM_SCRATCH}"
        return (PolicyFinding(rule="fused-attention", line=None, message=message),)
    findings = []
    for node in ast.walk(tree):
        name = _named(node)
        if name is not None and _FUSED_NAMES.search(name):
            findings.append(
                PolicyFinding(
                    rule="fused-attention",
                    line=getattr(node, "lineno", None),
                    message=f"uses `{clean_line(name, 100)}`; {_FROM_SCRATCH}",
                )
            )
    return tuple(findings)


def _named(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        own = isinstance(root, ast.Name) and root.id in ("self", "cls")
        return None if own else node.attr
    if isinstance(node, ast.ImportFrom):
        hit = [a.name for a in node.names if _FUSED_NAMES.search(a.name)]
        module = node.module or ""
        if hit and (node.level or module.split(".")[0] in _LIBRARIES):
            return hit[0]
        return module if _FUSED_NAMES.search(module) else None
    if isinstance(node, ast.Import):
        return next((a.name for a in node.names if _FUSED_NAMES.search(a.name)), None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
        return next((text for text in texts if isinstance(text, str)), None)
    return None


def assert_not_imported(candidate: Candidate, library: str) -> None:
    """Assert that the source does not import a library that the contract leaves out.

    Raises:
        CheckFailure: Naming the line.
    """
    try:
        nodes = list(ast.walk(ast.parse(candidate.source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CheckFailure("the source cannot be read, so it may import anything") from error
    for node in nodes:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call):  # __import__("torch"), importlib.import_module("torch")
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            called = ast.unparse(node.func)
            names = [str(text) for text in texts if "import" in called]
        if any(name.split(".")[0] == library for name in names):
            line = f"line {getattr(node, 'lineno', '?')}"
            raise CheckFailure(f"imports {library}; the problem is to be solved without it", line)


def fused_in(observed: Observed) -> list[str]:
    """Return the names of fused or official attention among what a call did."""
    names = [*observed.functions, *observed.operators]
    # a candidate's own MultiheadAttention is a module too: only torch's are noted with a prefix
    names += [name for name in observed.modules if name.startswith("torch.")]
    return [name for name in names if _FUSED_NAMES.search(name)]


def assert_written_from_scratch(candidate: Candidate, target: Function | Layer, *args: Any) -> None:
    """Assert that neither the source nor a call uses fused or official attention.

    Raises:
        CheckFailure: Naming the place in the source, or the operation seen.
    """
    findings = fused_in_source(candidate.source)
    if findings:
        first = findings[0]
        raise CheckFailure(first.message, f"line {first.line}" if first.line else "")
    seen = fused_in(target.observe(*args))
    if seen:
        raise CheckFailure(f"runs `{seen[0]}`; {_FROM_SCRATCH}")


_AUTOGRAD_NAMES = frozenset(
    "backward autograd requires_grad_ vjp jvp jacrev jacfwd jacobian hessian enable_grad grad_fn "
    "forward_ad linearize grad_and_value functional_call set_grad_enabled retain_grad".split()
)


def assert_no_autograd(candidate: Candidate, target: Function | Layer, *args: Any) -> None:
    """Assert that gradients are computed by hand: neither source nor call uses autograd.

    Raises:
        CheckFailure: Naming the place in the source, or what was seen.
    """
    for name, line in _names_in(candidate.source):
        if name in _AUTOGRAD_NAMES:
            raise CheckFailure(f"uses `{name}`; the gradients are to be derived", f"line {line}")
    seen = target.observe(*args)
    derived = [
        name
        for name in (*seen.functions, *seen.operators)
        if "backward" in name or name in ("grad", "aten._make_dual")
    ]
    if derived or seen.saved_tensors:
        what = f"runs `{derived[0]}`" if derived else "records a graph for autograd"
        raise CheckFailure(f"{what}; the gradients are to be derived")


def _names_in(source: str) -> list[tuple[str, int]]:
    """Return attributes, imported names, keywords that are true, and texts given to `getattr`."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CheckFailure("the source cannot be read, so it may hide anything") from error
    found: list[tuple[str, int]] = []
    for node in nodes:
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Attribute):
            found.append((node.attr, line))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            found += [(part, line) for name in names for part in name.split(".")]
        elif isinstance(node, ast.keyword) and node.arg == "requires_grad":
            true = not (isinstance(node.value, ast.Constant) and not node.value.value)
            found += [("requires_grad_", line)] * true
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            found += [(a.value, line) for a in node.args if _is_text(a)]  # type: ignore[attr-defined]
    return found


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def assert_grows_at_most(before: int, after: int, factor: float, what: str) -> None:
    """Assert that a counted cost grows by no more than a factor between two sizes of input.

    Args:
        before: Counted on the smaller input: an `Observed`'s `flops`, `largest_elements`, ….
        after: Counted on the larger input.
        factor: How much more is allowed.
        what: What was counted, and between which sizes, for the message.

    Raises:
        CheckFailure: If it grows by more.
    """
    if after > factor * before:
        ratio = after / before if before else float("inf")
        raise CheckFailure(
            f"{what} grows {ratio:.3g} times; at most {factor:g} times is wanted",
            f"{before}, then {after}",
        )


def assert_operations_do_not_grow(
    small: Observed, large: Observed, what: str, tolerated: Sequence[str] = ()
) -> None:
    """Assert that a call on larger input does as many operations as one on smaller input.

    Raises:
        CheckFailure: If there are more: a Python loop over what grew.
    """
    before, after = (
        sum(count for name, count in seen.operators.items() if name not in tolerated)
        for seen in (small, large)
    )
    # one call of a composite function, such as tensor_split, may be many operators
    called = sum(large.functions.values()) > sum(small.functions.values())
    if after > before and called:
        raise CheckFailure(
            f"a Python loop over {what}: the number of operations grows with it",
            f"{before} operations, then {after}",
        )
