"""Whether the answer was written from scratch, and without Python loops.

What counts is what the worker saw the answer do, in every call or in an observed one: a name in the
source proves nothing. A worker's word is an aid, not proof: a hostile file could falsify it. None
of this affects the checks on values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mha_judge.grading.calling.candidate import Candidate, context_of
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.replies import Observed
from mha_judge.grading.calling.target import Target
from mha_judge.grading.failures import CheckFailure
from mha_judge.outcomes import Outcome
from mha_judge.report.models import CheckResult, PolicyFinding
from mha_judge.sanitising import clean_line
from mha_judge.syntax import syntax_tree

_FUSED_NAMES = re.compile(
    r"scaled_dot_product|flash_attn|flash_attention|flex_attention|efficient_attention|"
    r"multi_head_attention|MultiheadAttention$|TransformerEncoder|TransformerDecoder|"
    r"transformer_encoder|_fused_sdp|cudnn_attention|fused_attention|varlen_attn"
)
_NORM_NAMES = re.compile(r"(?:layer|rms|batch|group|instance)_?norm", re.IGNORECASE)
_LOSS_NAMES = re.compile(r"loss|cross_?entropy|kl_?div", re.IGNORECASE)
_OF_LIBRARIES = re.compile(r"^[^.]+$|^(?:aten|prim|torch|xformers|flash_attn\w*|vllm\w*)\.")
"""Functions of torch, and operators in the namespaces of known libraries."""
_REASONS = {
    "fused-attention": "the problem asks for attention written from scratch",
    "autograd": "the gradients are to be derived",
    "library-norm": "the problem asks for a norm written from scratch",
    "library-loss": "the problem asks for a loss written from scratch",
    "torch": "the problem is to be solved without torch",
}


def assert_not_imported(candidate: Candidate, library: str) -> None:
    """Assert that the source does not import a library that the contract leaves out.

    For torch, no call may use it either, however it got hold of it.

    Raises:
        CheckFailure: Naming the line, or what was seen.
    """
    tree = syntax_tree(context_of(candidate).task.submission.source)
    if tree is None:
        raise CheckFailure("the source cannot be read, so it may import anything")
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call):  # __import__("torch"), importlib.import_module("torch")
            called = ast.unparse(node.func).rpartition(".")[2]
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            names = [str(text) for text in texts if called in ("__import__", "import_module")]
        if any(name.split(".")[0] == library for name in names):
            line = f"line {getattr(node, 'lineno', '?')}"
            raise CheckFailure(f"imports {library}; the problem is to be solved without it", line)
    if library == "torch":
        _hold(candidate, library)


def fused_in(observed: Observed) -> list[str]:
    """Return the names of fused or official attention among what a call did."""
    return _ready_made(observed, _FUSED_NAMES)


def _norms_in(observed: Observed) -> list[str]:
    return _ready_made(observed, _NORM_NAMES)


def _losses_in(observed: Observed) -> list[str]:
    return _ready_made(observed, _LOSS_NAMES)


def _derived_in(observed: Observed) -> list[str]:
    """Return the names of what a call did that autograd does, or that does a part of its work."""
    names = [
        name
        for name in _of_libraries(observed)
        if "backward" in name or name in ("grad", "_make_dual", "aten._make_dual")
    ]
    return [*names, *["a graph for autograd"] * bool(observed.followed)]


def _ready_made(observed: Observed, wanted: re.Pattern[str]) -> list[str]:
    # a candidate's own MultiheadAttention is a module too: only torch's have a prefix
    modules = [name for name in observed.modules if name.startswith("torch.")]
    return [name for name in (*_of_libraries(observed), *modules) if wanted.search(name)]


def _of_libraries(observed: Observed) -> list[str]:
    names = (*observed.functions, *observed.operators)
    return [name for name in names if _OF_LIBRARIES.search(name)]


def assert_written_from_scratch(candidate: Candidate, target: Target, *args: Any) -> None:
    """Assert that neither this call nor any other uses fused or official attention.

    Raises:
        CheckFailure: Naming what was seen, and the line that led to it.
    """
    _assert_kept(candidate, "fused-attention", fused_in, target, args)


def assert_no_autograd(candidate: Candidate, target: Target, *args: Any) -> None:
    """Assert that gradients are computed by hand: neither this call nor any other uses autograd.

    Raises:
        CheckFailure: Naming what was seen.
    """
    _assert_kept(candidate, "autograd", _derived_in, target, args)


def assert_no_library_norm(candidate: Candidate, target: Target, *args: Any) -> None:
    """Assert that a norm is written from scratch: neither this call nor any other uses torch's.

    Raises:
        CheckFailure: Naming what was seen.
    """
    _assert_kept(candidate, "library-norm", _norms_in, target, args)


def assert_no_library_loss(candidate: Candidate, target: Target, *args: Any) -> None:
    """Assert that a loss is written from scratch: neither this call nor any other uses torch's.

    Raises:
        CheckFailure: Naming what was seen.
    """
    _assert_kept(candidate, "library-loss", _losses_in, target, args)


def _assert_kept(
    candidate: Candidate,
    rule: str,
    shown_by: Callable[[Observed], list[str]],
    target: Target,
    args: Sequence[Any],
) -> None:
    _hold(candidate, rule)
    for name in shown_by(target.observe(*args)):
        raise CheckFailure(_message(rule, name))


def _hold(candidate: Candidate, rule: str) -> None:
    """Assert that no call so far broke a rule; `held_to` looks at later calls."""
    context = context_of(candidate)
    context.hold_to(rule)
    for finding in findings(context, rule):
        raise CheckFailure(finding.message, _place(finding))


def findings(context: Context, rule: str) -> list[PolicyFinding]:
    """Return how the calls so far broke a rule."""
    broken = {note.name: note.line for note in context.session.notes if note.rule == rule}
    shown_by = {
        "autograd": _derived_in, "library-norm": _norms_in, "library-loss": _losses_in,
        "torch": _of_libraries,
    }.get(rule)  # fmt: skip
    if shown_by is not None:
        for seen in context.observations:
            broken |= dict.fromkeys(shown_by(seen))
    return [
        PolicyFinding(rule=rule, line=line, message=_message(rule, name))
        for name, line in broken.items()
    ]


def held_to(
    results: Sequence[CheckResult], rules: Mapping[str, str], found: Sequence[PolicyFinding]
) -> list[CheckResult]:
    """Return the results, in which the check of a rule fails if only a later call broke the rule.

    Args:
        results: The results of the checks.
        rules: By id of a check, the rule that it holds the submission to.
        found: How the calls of the whole grade broke rules.
    """
    broken = {finding.rule: finding for finding in reversed(found)}
    kept = []
    for result in results:
        finding = broken.get(rules.get(result.id, ""))
        if finding is not None and result.outcome is Outcome.PASSED:
            failed = {"outcome": Outcome.FAILED, "points": 0.0}
            words = {"message": finding.message, "detail": _place(finding)}
            result = result.model_copy(update={**failed, **words})
        kept.append(result)
    return kept


def hold_to_rules(
    results: Sequence[CheckResult], contexts: Sequence[Context]
) -> tuple[list[CheckResult], list[PolicyFinding]]:
    """Return the results, in which the check of every broken rule fails, and the findings.

    Args:
        results: The results of the checks.
        contexts: The contexts in which the checks ran; the rules are those of the first.
    """
    if not contexts:
        return list(results), []
    rules = contexts[0].rules
    asked = dict.fromkeys(rules.values())
    found = [finding for one in contexts for rule in asked for finding in findings(one, rule)]
    return held_to(results, rules, found), found


def _message(rule: str, name: str) -> str:
    verb = "records" if name.startswith("a graph") else "runs"
    what = name if name.startswith("a graph") else f"`{clean_line(name, 100)}`"
    return f"{verb} {what}; {_REASONS[rule]}"


def _place(finding: PolicyFinding) -> str:
    return f"line {finding.line}" if finding.line is not None else ""


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
