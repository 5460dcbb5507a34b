"""Whether what a candidate reads is complete: both languages, starter, hints."""

from __future__ import annotations

import ast
import re
from contextlib import suppress

from mha_judge.bank import Bank
from mha_judge.bank.problem import Problem
from mha_judge.errors import BankError
from mha_judge.outcomes import Category

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def faults_of(bank: Bank, problem: Problem) -> list[str]:
    """Return what is missing, a sentence each."""
    texts: dict[str, str] = {}
    faults: list[str] = []
    languages = bank.languages(problem.id)
    for language in languages:
        with suppress(BankError):  # a missing statement is reported before
            texts[language] = bank.statement(problem.id, language)
    for language, text in texts.items():
        for entry in problem.entry:
            if entry.name not in text:
                faults.append(f"the statement ({language}) does not name `{entry.name}`")
    if len(texts) > 1:
        code = [len(_CODE.findall(text)) for text in texts.values()]
        if len(set(code)) != 1:
            faults.append(f"the statements have different numbers of Python examples: {code}")
    if "zh" in languages:
        if not _CHINESE.search(problem.title_zh):
            faults.append("problem.toml: title_zh is not in Chinese")
        faults += [
            f"questions.toml: {question.id}: explanation_zh is not in Chinese"
            for question in bank.questions(problem.id).values()
            if not _CHINESE.search(question.explanation_zh)
        ]
    if problem.title_zh and "zh" not in languages:
        faults.append(
            "problem.toml has a title_zh, and there is no statement.zh.md; write it, or leave the "
            "title out"
        )
    return faults + _starter_faults(bank, problem)


def without_hint(problem: Problem, categories: set[Category]) -> list[str]:
    """Return for which categories of checks a problem has no hint, a sentence each."""
    return [
        f"problem.toml has no hint for the category {category}"
        for category in sorted(categories)
        if not problem.hints.get(category)
    ]


def _starter_faults(bank: Bank, problem: Problem) -> list[str]:
    try:
        source = bank.starter(problem.id)
        names = {name for node in ast.parse(source).body for name in _defined(node)}
    except (BankError, SyntaxError) as error:
        return [f"the starter cannot be used: {error}"]
    missing = [entry.name for entry in problem.entry if entry.name not in names]
    faults = [f"the starter does not define `{name}`" for name in missing]
    if "TODO" not in source:
        faults.append("the starter has no TODO; mark what is to be written")
    return faults


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a top-level statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
