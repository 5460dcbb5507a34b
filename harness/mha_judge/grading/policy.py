"""Whether the answer was written from scratch, and without Python loops.

What counts is what the worker saw the answer do, in every call or in the one that is observed: a
name in a source may be anybody's. A worker's word is an aid, not proof: a hostile file could
falsify it. None of this touches the checks on values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mha_judge.grading.failures import CheckFailure
from mha_judge.report.models import CheckResult, Outcome, PolicyFinding
from mha_judge.report.untrusted import clean_line

if TYPE_CHECKING:
    from mha_judge.grading.candidate import Candidate
    from mha_judge.grading.function import Function
    from mha_judge.grading.layer import Layer
    from mha_judge.grading.replies import Note, Observed

_FUSED_NAMES = re.compile(
    r"scaled_dot_product|flash_attn|flash_attention|flex_attention|efficient_attention|"
    r"multi_head_attention|MultiheadAttention$|TransformerEncoder|TransformerDecoder|"
    r"transformer_encoder|_fused_sdp|cudnn_attention|fused_attention|varlen_attn"
)
_OF_LIBRARIES = re.compile(r"^(?:aten|prim|xformers|flash_attn\w*|vllm\w*)\.")
"""Namespaces of operators that are nobody's own."""
_REASONS = {
    "fused-attention": "the problem asks for attention written from scratch",
    "autograd": "the gradients are to be derived",
}


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
    operators = [name for name in observed.operators if _OF_LIBRARIES.search(name)]
    # a candidate's own MultiheadAttention is a module too: only torch's are noted with a prefix
    modules = [name for name in observed.modules if name.startswith("torch.")]
    names = [*observed.functions, *operators, *modules]
    return [name for name in names if _FUSED_NAMES.search(name)]


def assert_written_from_scratch(candidate: Candidate, target: Function | Layer, *args: Any) -> None:
    """Assert that neither this call nor any other uses fused or official attention.

    Raises:
        CheckFailure: Naming what was seen, and the line that led to it.
    """
    _hold(candidate, "fused-attention")
    seen = fused_in(target.observe(*args))
    if seen:
        raise CheckFailure(f"runs `{seen[0]}`; {_REASONS['fused-attention']}")


def assert_no_autograd(candidate: Candidate, target: Function | Layer, *args: Any) -> None:
    """Assert that gradients are computed by hand: neither this call nor any other uses autograd.

    Raises:
        CheckFailure: Naming what was seen, and the line that led to it.
    """
    _hold(candidate, "autograd")
    seen = target.observe(*args)
    derived = [
        name
        for name in (*seen.functions, *seen.operators)
        if "backward" in name or name in ("grad", "aten._make_dual")
    ]
    if derived or seen.saved_tensors:
        what = f"runs `{derived[0]}`" if derived else "records a graph for autograd"
        raise CheckFailure(f"{what}; {_REASONS['autograd']}")


def _hold(candidate: Candidate, rule: str) -> None:
    """Assert that no call so far was noted to break a rule; `held_to` looks at those to come."""
    candidate.hold_to(rule)
    for note in candidate.session.noted(rule):
        raise CheckFailure(_message(note), _place(note))


def findings(notes: Sequence[Note]) -> list[PolicyFinding]:
    """Return what the submission was noted to do, for the report."""
    return [PolicyFinding(rule=note.rule, line=note.line, message=_message(note)) for note in notes]


def held_to(
    results: Sequence[CheckResult], rules: dict[str, str], notes: Sequence[Note]
) -> list[CheckResult]:
    """Return the results, a check of a rule failed that only a later call was noted to break.

    Args:
        results: What came of each check.
        rules: By id of the check, what it holds the submission to.
        notes: What the submission was noted to do in the whole grade.
    """
    broken: dict[str, Note] = {note.rule: note for note in reversed(notes)}
    kept = []
    for result in results:
        note = broken.get(rules.get(result.id, ""))
        if note is not None and result.outcome is Outcome.PASSED:
            failed = {"outcome": Outcome.FAILED, "points": 0.0}
            words = {"message": _message(note), "detail": _place(note)}
            result = result.model_copy(update={**failed, **words})
        kept.append(result)
    return kept


def _message(note: Note) -> str:
    return f"runs `{clean_line(note.name, 100)}`; {_REASONS[note.rule]}"


def _place(note: Note) -> str:
    return f"line {note.line}" if note.line is not None else ""


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
