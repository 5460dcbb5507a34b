"""Gives what an answer is free to name other names: methods, parameters, fields, helpers."""

import ast
import builtins
import itertools
import math
from collections.abc import Iterable, Iterator

import numpy
import torch

from mha_judge.bank.problem import Problem

_NOT_OWN = {
    name for known in (torch, torch.Tensor, torch.nn, torch.nn.Module, numpy, numpy.ndarray, math,
                       builtins, dict, list)
    for name in dir(known)
}  # fmt: skip
"""Attributes that an object of a library may have, so that a name does not tell whose it is."""


def renamed(source: str, problem: Problem, words: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return a program under other names, and which these are by the old ones.

    What the contract names stays: entries, their methods, and the parameters of both.

    Args:
        source: The program.
        problem: Its contract.
        words: At least one name; used with numbers once all are taken.
    """
    tree = ast.parse(source)
    contract = _Contract(problem)
    own = _Own(contract)
    own.visit(tree)
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    fresh = (word for word in _without_end(words) if word not in taken | contract.names)
    names = dict(zip(dict.fromkeys(own.found), fresh, strict=False))
    return ast.unparse(_Renamer(contract, names, own.attributes).visit(tree)), names


def _without_end(words: Iterable[str]) -> Iterator[str]:
    words = list(words)
    yield from words
    yield from (f"{word}_{number}" for number in itertools.count(2) for word in words)


class _Contract:
    def __init__(self, problem: Problem) -> None:
        self.names = {"forward"}
        self._methods = {"__init__", "__call__", "forward"}
        for entry in problem.entry:
            self.names |= {entry.name, *entry.aliases, *entry.classes}
            self._methods |= {method.name for method in entry.methods}
        self.names |= self._methods

    def gives_parameters(self, function: ast.FunctionDef, owner: str | None) -> bool:
        """Return whether the parameters of a function, or of a class's method, are the judge's."""
        if owner is None:
            return function.name in self.names
        return owner in self.names and function.name in self._methods


class _Scopes(ast.NodeVisitor):
    """Knows in which class and in which functions a node stands."""

    def __init__(self, contract: _Contract) -> None:
        self.contract = contract
        self.owner: str | None = None
        self.parameters: list[set[str]] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.owner, before = node.name, self.owner
        self.generic_visit(node)
        self.owner = before
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        own = set()
        if not self.contract.gives_parameters(node, self.owner):
            of = node.args
            own = {arg.arg for arg in [*of.posonlyargs, *of.args, *of.kwonlyargs]}
        self.parameters.append(own - {"self"})
        self.generic_visit(node)
        self.parameters.pop()
        return node

    def is_parameter(self, name: str) -> bool:
        return any(name in own for own in self.parameters)


class _Own(_Scopes):
    """Finds what may have another name."""

    def __init__(self, contract: _Contract) -> None:
        super().__init__(contract)
        self.found: list[str] = []
        self.attributes: set[str] = set()

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if node.name not in self.contract.names:
            self.found.append(node.name)
        return super().visit_ClassDef(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name not in self.contract.names and not node.name.startswith("__"):
            self.found.append(node.name)
            if self.owner is not None:
                self.attributes.add(node.name)
        return super().visit_FunctionDef(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        if self.is_parameter(node.arg):
            self.found.append(node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store) and _is_self(node.value):
            self.found.append(node.attr)
            self.attributes.add(node.attr)
        return node


class _Renamer(_Scopes, ast.NodeTransformer):
    """Puts the new names in the places of the old."""

    def __init__(self, contract: _Contract, names: dict[str, str], attributes: set[str]) -> None:
        super().__init__(contract)
        self._names = names
        self._attributes = attributes

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        super().visit_ClassDef(node)
        node.name = self._of(node.name)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        super().visit_FunctionDef(node)
        node.name = self._of(node.name)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self.generic_visit(node)
        if self.is_parameter(node.arg):
            node.arg = self._names[node.arg]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        local = self.is_parameter(node.id)
        if local or (node.id not in self._attributes and self._is_definition(node.id)):
            node.id = self._names[node.id]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        own = node.attr in self._attributes
        if own and (_is_self(node.value) or node.attr not in _NOT_OWN):
            node.attr = self._names[node.attr]
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        own = isinstance(node.func, ast.Name) and self._is_definition(node.func.id)
        own = own or (isinstance(node.func, ast.Attribute) and _is_self(node.func.value))
        for keyword in node.keywords if own else ():
            keyword.arg = self._of(keyword.arg or "") or None
        self.generic_visit(node)
        return node

    def _of(self, name: str) -> str:
        return name if name in self.contract.names else self._names.get(name, name)

    def _is_definition(self, name: str) -> bool:
        return name in self._names and name in self._defined

    def visit_Module(self, node: ast.Module) -> ast.AST:
        kinds = (ast.ClassDef, ast.FunctionDef)
        inside = [one for one in ast.walk(node) if isinstance(one, ast.ClassDef)]
        methods = {id(one) for cls in inside for one in cls.body}
        self._defined = {
            one.name for one in ast.walk(node) if isinstance(one, kinds) and id(one) not in methods
        }
        return self.generic_visit(node)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
