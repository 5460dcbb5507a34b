"""The kill matrix in a terminal: mistakes against checks."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from mha_judge.certify.models import Certificate, Certification, Kill
from mha_judge.outcomes import Outcome

DEAREST = 10
"""How many of the problems that took longest are named."""
_CELLS: dict[Outcome, tuple[str, str]] = {
    Outcome.PASSED: (".", "dim"),
    Outcome.FAILED: ("x", "red"),
    Outcome.ERROR: ("x", "red"),
    Outcome.TIMEOUT: ("t", "red"),
    Outcome.CRASHED: ("c", "red"),
    Outcome.NOT_ASSESSED: (" ", "dim"),
}


def show_end(certification: Certification, console: Console) -> None:
    """Print what took how long, and the verdict on all problems last."""
    _show_costs(certification, console)
    names = certification.names
    told = f"{names.right} right, {names.missing} missing, {names.false} false"
    console.print(
        Text(f"Names of mistakes, of pairs, and of corner faults, which have none: {told}")
    )
    if certification.draw:
        console.print(Text(certification.draw, style="dim"))
    bad = [c.problem for c in certification.problems if not c.certified]
    if bad:
        console.print(Text(f"Not certified: {', '.join(bad)}", style="bold red"))
    else:
        count = _count(len(certification.problems), "problem")
        console.print(Text(f"Certified: {count}", style="bold green"))


def show_problem(certificate: Certificate, console: Console) -> None:
    """Print a problem's matrix and faults."""
    verdict = (
        ("certified", "bold green") if certificate.certified else ("NOT CERTIFIED", "bold red")
    )
    console.print()
    console.print(Text.assemble((certificate.problem, "bold"), "  ", verdict))
    if certificate.graded:
        console.print(Text(_summary(certificate), style="dim"))
    console.print()
    if certificate.mistakes:
        console.print(_matrix(certificate), soft_wrap=True)  # whole rows, in a narrow log too
        console.print(
            Text("X killed by its check   ! survives it   x fails   . passes", style="dim")
        )
        console.print(_legend(certificate))
        console.print()
    for fault in certificate.faults:
        console.print(Text.assemble(("✗ ", "red"), str(fault)))
    if certificate.faults:
        console.print()


def _show_costs(certification: Certification, console: Console) -> None:
    """Print what was graded and how long it took, and which problems took longest."""
    console.print()
    for kind, tally in certification.graded.items():
        of = "" if tally.tried == tally.of else f" of {tally.of}"
        console.print(Text(f"{tally.seconds:7.0f} s  {tally.tried}{of} {kind}", style="dim"))
    graded = [one for one in certification.problems if one.graded]
    dearest = sorted(graded, key=lambda one: one.seconds, reverse=True)
    if len(dearest) > 1:
        told = ", ".join(f"{one.problem} {one.seconds:.0f} s" for one in dearest[:DEAREST])
        console.print(Text(f"Dearest: {told}", style="dim"))


def _summary(certificate: Certificate) -> str:
    scores = certificate.reference_scores
    accepted = sum(baseline.accepted for baseline in certificate.baselines)
    parts = [
        f"reference {min(scores, default=0):g} ({_count(len(scores), 'seed')}, "
        f"from {certificate.seeds[0]})",
        f"starter {certificate.starter_score:g}",
        f"{sum(kill.killed for kill in certificate.mistakes)}/{len(certificate.mistakes)} mistakes",
        f"{len(certificate.baselines) - accepted}/{len(certificate.baselines)} baselines",
    ]
    if certificate.pairs:
        parts.append(_count(len(certificate.pairs), "pair"))
    if certificate.corner_faults:
        tried = len(certificate.corner_faults)
        missed = sum(fault.accepted for fault in certificate.corner_faults)
        parts.append(f"{tried - missed}/{tried} corner faults")
    if certificate.mutants:
        survivors = len(certificate.survivors)
        parts.append(f"{certificate.mutants - survivors}/{certificate.mutants} mutants")
        parts.append(f"{sum(m.reason is not None for m in certificate.survivors)} equivalent")
    if certificate.agreements:
        parts.append(f"agrees with {_count(len(certificate.agreements), 'other implementation')}")
    if certificate.device != "cpu":
        parts.append(certificate.device)
    if certificate.mistakes_without_gpu:
        left_out = _count(len(certificate.mistakes_without_gpu), "mistake")
        parts.append(f"GPU not certified ({left_out} left out)")
    return " · ".join([*parts, f"{certificate.seconds:g} s"])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _matrix(certificate: Certificate) -> Text:
    """Return a row a mistake and a letter a check: what stands above are the checks' numbers."""
    width = max(len(kill.id) for kill in certificate.mistakes)
    numbers = range(1, len(certificate.checks) + 1)
    blank = " " * (width + 14)
    tens = "".join(str(n // 10) if n % 10 == 0 else " " for n in numbers)
    ones = "".join(str(n % 10) for n in numbers)
    text = Text(no_wrap=True)
    text.append(f"{blank}{tens}\n{'mistake':<{width}}  margin score {ones}\n", style="dim")
    for kill in certificate.mistakes:
        margin = "" if kill.margin is None else f"{_short(kill.margin)}×"
        text.append(f"{kill.id:<{width}} ")
        score = f"{min(kill.scores):g}" if kill.scores else ""
        text.append(f"{margin:>6} {score:>5} ", style="dim")
        for check in certificate.checks:
            text.append(*_cell(kill, check))
        text.append("\n")
    return text


def _cell(kill: Kill, check: str) -> tuple[str, str]:
    if check == kill.killed_by:
        return ("X", "bold white on red") if kill.killed else ("!", "bold")
    return _CELLS[kill.outcomes.get(check, Outcome.NOT_ASSESSED)]


def _short(number: float) -> str:
    return f"{number:.0f}" if number < 1e4 else f"{number:.0e}".replace("e+0", "e")


def _legend(certificate: Certificate) -> Text:
    names = [f"{i}\u00a0{check}" for i, check in enumerate(certificate.checks, 1)]
    return Text("  ".join(names), style="dim")
