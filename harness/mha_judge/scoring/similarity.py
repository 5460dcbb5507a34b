"""Answers that are much alike: a hint to look at them side by side, never a verdict.

Fingerprints are runs of tokens, without comments and docstrings, that the starter does not have.
Exercises this short have honest answers that agree in much, so that only nearly all of it counts.
"""

from __future__ import annotations

import io
import itertools
import keyword
import tokenize
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.scoring.answers import CandidateFile
from mha_judge.scoring.models import Likeness, Similar

_RUN = 6
_LEAST = 24
"""Fingerprints below which an answer is too short to be like another by anything but chance."""
_NEAR = 0.85
_MAX_TOKENS = 20_000
_MAX_PAIRS = 200
_LAYOUT = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER,
)  # fmt: skip


@dataclass(frozen=True)
class _Text:
    candidate: str
    exact: tuple[str, ...]
    renamed: tuple[str, ...]
    prints: frozenset[int]


def similar(answers: Sequence[CandidateFile], bank: Bank) -> list[Similar]:
    """Return groups of the same answers, and pairs of nearly the same, problem by problem."""
    of: dict[str, list[CandidateFile]] = defaultdict(list)
    for answer in answers:
        if answer.submission is not None:
            of[answer.problem].append(answer)
    return [
        alike
        for problem, group in sorted(of.items())
        for alike in _within(problem, _texts(group, bank.starter(problem)))
    ]


def _texts(answers: Sequence[CandidateFile], starter: str) -> list[_Text]:
    given = _prints(_tokens(starter))
    texts = []
    for answer in answers:
        assert answer.submission is not None
        tokens = _tokens(answer.submission.source)
        prints = _prints(tokens) - given
        if len(prints) >= _LEAST:
            texts.append(_Text(answer.candidate, tokens, _renamed(tokens), prints))
    return texts


def _within(problem: str, texts: Sequence[_Text]) -> Iterator[Similar]:
    exact: dict[tuple[str, ...], list[_Text]] = defaultdict(list)
    renamed: dict[tuple[str, ...], list[_Text]] = defaultdict(list)
    for text in texts:
        exact[text.exact].append(text)
        renamed[text.renamed].append(text)
    same = [(Likeness.IDENTICAL, group) for group in exact.values() if len(group) > 1]
    for group in renamed.values():
        if len({text.exact for text in group}) > 1:
            same.append((Likeness.RENAMED, group))
    for likeness, group in same:
        names = [text.candidate for text in group]
        yield Similar(problem=problem, candidates=names, likeness=likeness, share=1.0)
    firsts = [group[0] for group in renamed.values()]
    yield from itertools.islice(_pairs(problem, firsts), _MAX_PAIRS)


def _pairs(problem: str, texts: Sequence[_Text]) -> Iterator[Similar]:
    for one, other in itertools.combinations(texts, 2):
        small, large = sorted((len(one.prints), len(other.prints)))
        if small < _NEAR * large:
            continue
        share = len(one.prints & other.prints) / large
        if share >= _NEAR:
            yield Similar(
                problem=problem,
                candidates=[one.candidate, other.candidate],
                likeness=Likeness.NEAR,
                share=round(share, 2),
            )


def _tokens(source: str) -> tuple[str, ...]:
    """Return what a source says, up to where it is no longer Python."""
    kept: list[str] = []
    before = tokenize.NEWLINE
    try:
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        for token in itertools.islice(tokens, _MAX_TOKENS):
            docstring = token.type == tokenize.STRING and before in (
                tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
            )  # fmt: skip
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                before = token.type
            if token.type in (tokenize.INDENT, tokenize.DEDENT):
                kept.append(tokenize.tok_name[token.type])
            elif token.type not in _LAYOUT and not docstring:
                kept.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        pass
    return tuple(kept)


def _renamed(tokens: Sequence[str]) -> tuple[str, ...]:
    """Number the names in the order in which they come; attributes are not the candidate's."""
    numbers: dict[str, str] = {}
    renamed = []
    for before, token in itertools.pairwise(("", *tokens)):
        own = token.isidentifier() and not keyword.iskeyword(token) and before != "."
        renamed.append(numbers.setdefault(token, f"name {len(numbers)}") if own else token)
    return tuple(renamed)


def _prints(tokens: Sequence[str]) -> frozenset[int]:
    """Hash every run of tokens, in the same way in each process."""
    runs = zip(*(tokens[start:] for start in range(_RUN)), strict=False)
    return frozenset(zlib.crc32("\0".join(run).encode("utf-8", "replace")) for run in runs)
