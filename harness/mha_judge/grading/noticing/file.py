"""Reads an answer's file as far as it is known to be harmless."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from mha_judge.grading.noticing.lists import (
    ATTRIBUTES,
    BUILTINS,
    COMPARED,
    EXCEPTIONS,
    FUNCTIONS,
    HINTS,
    ITERATORS,
    KEYWORDS,
    LAYERS,
    METHODS,
    MODULES,
    MOST_GIVEN,
    OF_DICTS,
    OF_FINFO,
    OF_LAYOUT,
    OF_MODULE,
    OF_PARAMETERS,
    SPECIAL,
    TYPES,
    TYPING,
    VALUES,
)
from mha_judge.syntax import name_of
from mha_judge.wire.blocks import is_documented


class Unproven(Exception):
    """A part of a file that is in no list."""


def _require(is_harmless: object, node: ast.AST) -> None:
    if not is_harmless:
        raise Unproven(node)


class File:
    """Reads a file, and raises `Unproven` at the first part that is in no list."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._names: dict[str, str] = {}
        """What the file imports, by the name that it has there."""
        classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
        self._classes = {one.name for one in classes}
        self._methods = [one for cls in classes for one in cls.body if not is_documented([one])]
        self._own: set[str] = set()
        """Names of methods."""
        self._selves: set[str] = set()
        """Names of the first parameters of methods."""
        self._bound: set[str] = set()
        """Names of variables, functions and classes."""
        self._layers: set[str] = set()
        self._tensors: set[str] = set()
        self._numbers: set[str] = set()
        """Attributes, by what a constructor puts there."""
        self._constructed: set[ast.AST] = set()
        """Calls that make layers or parameters, which become attributes."""
        self._lists: set[str] = set()
        """Variables that only ever hold lists which the function makes."""
        self._is_constructor = False
        self._filling: set[ast.AST] = set()
        """Calls that make the numbers of parameters."""
        self._noticed: set[str] = set()

    def noticed(self) -> frozenset[str]:
        """Return which axes the file may notice: none, or where its inputs lie in memory.

        Raises:
            Unproven: It may notice more.
        """
        body = self._tree.body
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._describe(node)
        self._require_names_apart()
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.FunctionDef():
                    self._function(node)
                case ast.ClassDef():
                    pass
                case ast.Assign(targets=[ast.Name()], value=value):
                    _require(self._is_constant(value) or self._is_alias(value), node)
                case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                    _require(self._is_constant(value) and _is_type(node.annotation), node)
                case ast.If(
                    test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]), orelse=[]
                ):
                    # no answer runs as a script
                    _require(ast.unparse(node.test) == "__name__ == '__main__'", node)
                case _:
                    _require(False, node)
        for node in self._methods:
            assert isinstance(node, ast.FunctionDef)
            self._function(node)
        return frozenset(self._noticed)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                name, known = alias.asname or alias.name, f"{node.module}.{alias.name}"
                is_listed = known in MODULES | TYPES or self._is_function(known)
                is_hint = node.module in TYPING and alias.name in HINTS
                _require(not node.level and (is_listed or is_hint), node)
            else:
                _require(alias.name in MODULES | TYPING, node)
                first = alias.name.partition(".")[0]
                name, known = (alias.asname, alias.name) if alias.asname else (first, first)
            _require(self._names.setdefault(name, known) == known, node)

    @staticmethod
    def _is_function(known: str) -> bool:
        module, _, name = known.rpartition(".")
        return name in FUNCTIONS.get(module, ())

    def _describe(self, node: ast.ClassDef) -> None:
        """Note what attributes and methods a class has."""
        _require([self._known(one) for one in node.bases] == ["torch.nn.Module"], node)
        _require(not (node.keywords or node.decorator_list), node)
        for one in node.body:
            if is_documented([one]):
                continue
            _require(isinstance(one, ast.FunctionDef), one)
            assert isinstance(one, ast.FunctionDef)
            name = one.name
            if name not in ("__init__", "forward"):  # torch calls some of its own by their names
                _require(not name.startswith("__") and name not in OF_MODULE, one)
                self._own.add(name)
            if not one.decorator_list:
                _require(one.args.args and not one.args.posonlyargs, one)
                self._selves.add(one.args.args[0].arg)
            if name == "__init__":
                self._describe_attributes(one)

    def _describe_attributes(self, constructor: ast.FunctionDef) -> None:
        for node in ast.walk(constructor):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                _require(self._is_self(node.value) and node.attr not in OF_MODULE, node)
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            for target, value in _assigned(node):
                if isinstance(target, ast.Attribute):
                    self._kind(value).add(target.attr)
                    self._constructed |= self._made_by(value)
        _require(self._layers.isdisjoint(self._tensors | self._numbers), constructor)
        self._numbers -= self._tensors

    def _kind(self, value: ast.expr) -> set[str]:
        """Return the names of attributes that hold what this value is."""
        called = [one.func for one in ast.walk(value) if isinstance(one, ast.Call)]
        known = {self._known(one) or name_of(one) for one in called}
        if not known.isdisjoint({f"torch.nn.{one}" for one in LAYERS} | self._classes):
            return self._layers
        is_number = all(one in BUILTINS or one.startswith("math.") for one in known)
        return self._numbers if is_number else self._tensors

    def _made_by(self, value: ast.expr) -> set[ast.AST]:
        """Return the calls in a value that may make layers, or the parameter that it is."""
        if isinstance(value, ast.IfExp):
            return self._made_by(value.body) | self._made_by(value.orelse)
        if not isinstance(value, ast.Call):
            return set()
        parts = value.args if self._known(value.func) == "torch.nn.Sequential" else []
        return {value}.union(*map(self._made_by, parts))

    def _known(self, node: ast.AST) -> str | None:
        """Return the full name of what a library has."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._known(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None

    def _require_names_apart(self) -> None:
        """Require that no name that stands for something known is bound to anything else."""
        functions = [one for one in self._tree.body if isinstance(one, ast.FunctionDef)]
        top = [*self._classes, *(one.name for one in functions)]
        apart = {*self._names, *dir(builtins)}
        _require(len({*top}) == len(top) and apart.isdisjoint(top), self._tree)
        _require(not {*self._names} & {*dir(builtins)}, self._tree)
        apart |= {*self._selves, *top}
        firsts = {
            one.args.args[0]
            for one in self._methods
            if isinstance(one, ast.FunctionDef) and not one.decorator_list
        }
        self._bound |= {*top}
        for node in ast.walk(self._tree):
            for own in {one for one in vars(node).values() if isinstance(one, str)} - SPECIAL:
                _require(isinstance(node, ast.Constant) or not own.startswith("__"), node)
            name = ""
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                name = node.id
            elif isinstance(node, ast.arg) and node not in firsts:
                name = node.arg
            _require(name not in apart, node)
            self._bound.add(name)

    def _is_constant(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=value):
                return _is_plain(value)
            case ast.UnaryOp(operand=operand):
                return self._is_constant(operand)
            case ast.BinOp(left=left, right=right):
                return self._is_constant(left) and self._is_constant(right)
            case ast.Tuple(elts=every):
                return all(map(self._is_constant, every))
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()], keywords=[]):
                return True
        return self._is_value(node)

    def _is_value(self, node: ast.AST) -> bool:
        """Return whether a name of a library stands for a number or a dtype."""
        module, _, name = (self._known(node) or "").rpartition(".")
        return name in VALUES.get(module, ())

    def _is_alias(self, node: ast.expr) -> bool:
        """Return whether a value is a name for a type, as in `Cache = tuple[Tensor, Tensor]`."""
        return isinstance(node, ast.Subscript) and name_of(node.value) in TYPES and _is_type(node)

    # -- statements ------------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef) -> None:
        given, is_method = node.args, node in self._methods
        for one in node.decorator_list:
            _require(is_method and name_of(one) == "staticmethod", node)
        for default in (*given.defaults, *given.kw_defaults):
            _require(default is None or self._is_constant(default), node)
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        for hint in (*(one.annotation for one in every if one is not None), node.returns):
            _require(hint is None or _is_type(hint), node)
        self._lists = _lists(node)
        self._is_constructor = is_method and node.name == "__init__"
        self._statements(node.body)

    def _statements(self, every: Iterable[ast.stmt]) -> None:
        for one in every:
            self._statement(one)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=ast.Call() as call):
                if not (self._is_constructor and self._is_of_base(call)):
                    self._expression(call)
            case ast.Assign(targets=targets, value=value):
                self._expressions([*targets, value])
            case ast.AnnAssign(target=target, annotation=hint, value=value):
                _require(_is_type(hint), node)
                self._expressions([target, value])
            case ast.Return(value=value):
                self._expressions([value])
            case (
                ast.If(test=test, body=body, orelse=other)
                | ast.While(test=test, body=body, orelse=other)
            ):
                self._expression(test)
                self._statements([*body, *other])
            case ast.For(target=target, iter=several, body=body, orelse=other):
                self._expressions([target, several])
                self._statements([*body, *other])
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]):
                _require(self._known(call.func) == "torch.no_grad", node)
                _require(not call.args and not call.keywords, node)
                _require(node.items[0].optional_vars is None, node)
                self._statements(node.body)
            case ast.Raise(
                exc=ast.Call(func=ast.Name(id=name), args=words, keywords=[]), cause=None
            ):
                _require(name in EXCEPTIONS, node)
                self._words(words)
            case ast.Raise(exc=ast.Name(id=name), cause=None):
                _require(name in EXCEPTIONS, node)
            case ast.Assert(test=test, msg=message):
                self._expression(test)
                self._words([message] if message is not None else [])
            case _:
                _require(False, node)

    def _words(self, every: Iterable[ast.expr]) -> None:
        """Read the words of an exception, which nobody sees: they may tell what numbers may not."""
        for one in every:
            if isinstance(one, ast.JoinedStr):
                parts = [part for part in one.values if isinstance(part, ast.FormattedValue)]
                _require(all(part.format_spec is None for part in parts), one)
                self._expressions(part.value for part in parts)
            elif not isinstance(one, ast.Constant):
                self._expression(one)

    def _is_of_base(self, call: ast.Call) -> bool:
        """Return whether a call is `super().__init__()`."""
        match call:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Name(id="super"), args=given), attr="__init__"
                ),
                args=[],
                keywords=[],
            ):
                return all(isinstance(one, ast.Name) for one in given)
        return False

    # -- expressions -----------------------------------------------------------------------------

    def _expressions(self, every: Iterable[ast.expr | None]) -> None:
        for one in every:
            if one is not None:
                self._expression(one)

    def _expression(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=value):
                _require(_is_plain(value), node)
            case ast.Name(id=name):
                self._require_value(node, name)
            case ast.Attribute():
                self._attribute(node)
            case ast.Call():
                self._call(node)
            case ast.Subscript(value=value, slice=index, ctx=context):
                _require(isinstance(context, ast.Load), node)
                self._expressions([value, index])
            case ast.Compare(left=left, ops=how, comparators=others):
                if not all(isinstance(one, COMPARED) for one in how):
                    _require(len(how) == 1, node)
                    self._require_no_identity(how[0], left, others[0])
                self._expressions([left, *others])
            case ast.Dict(keys=keys, values=values):
                _require(all(isinstance(one, ast.Constant) for one in keys), node)
                self._expressions(values)
            case ast.ListComp(elt=one, generators=every):
                self._comprehension(one, every)
            case ast.GeneratorExp(elt=one, generators=every):
                _require(not self._is_constructor, node)  # it is used up
                self._comprehension(one, every)
            case (
                ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.IfExp() | ast.Slice() | ast.Tuple()
                | ast.List() | ast.Starred()
            ):  # fmt: skip
                parts = ast.iter_child_nodes(node)
                self._expressions(one for one in parts if isinstance(one, ast.expr))
            case _:
                _require(False, node)

    def _comprehension(self, one: ast.expr, every: Iterable[ast.comprehension]) -> None:
        self._expression(one)
        for part in every:
            self._expressions([part.target, part.iter, *part.ifs])

    def _require_value(self, node: ast.expr, name: str) -> None:
        """Require that a name is a variable, a function of the file, or a harmless built-in."""
        _require(name not in {*self._selves, *self._classes}, node)
        if name in self._names:
            _require(self._is_value(node), node)
        else:
            _require(name in self._bound, node)

    def _attribute(self, node: ast.Attribute) -> None:
        owner, name = node.value, node.attr
        if self._known(node) is not None:
            _require(self._is_value(node) and isinstance(node.ctx, ast.Load), node)
        elif self._is_self(owner):
            readable = self._numbers if self._is_constructor else self._numbers | self._tensors
            is_set = isinstance(node.ctx, ast.Store)
            _require(self._is_constructor if is_set else name in readable | {"training"}, node)
        elif name in OF_FINFO and isinstance(owner, ast.Call):
            _require(self._known(owner.func) == "torch.finfo", node)
            self._expression(owner)
        else:
            _require(name in ATTRIBUTES and isinstance(node.ctx, ast.Load), node)
            is_of_layer = isinstance(owner, ast.Attribute) and self._is_self(owner.value)
            if is_of_layer and owner.attr in self._layers:  # type: ignore[attr-defined]
                _require(name in ("weight", "bias") and not self._is_constructor, node)
            else:
                self._expression(owner)

    def _is_self(self, node: ast.expr) -> bool:
        return name_of(node) in self._selves

    def _require_no_identity(self, how: ast.cmpop, left: ast.expr, right: ast.expr) -> None:
        """Require that a comparison does not tell whether two inputs are one object."""
        if isinstance(how, (ast.Is, ast.IsNot)):
            _require(self._is_constant(left) or self._is_constant(right), right)
        else:
            _require(isinstance(right, ast.Tuple) and self._is_constant(right), right)

    def _call(self, node: ast.Call) -> None:
        called, given, known = node.func, node.args, self._known(node.func)
        named = {one.arg for one in node.keywords}
        values = [*given, *(one.value for one in node.keywords)]
        _require(None not in named, node)
        match called:
            case _ if known is not None:
                self._call_of_library(node, known)
            case ast.Name(id="isinstance"):
                _require(len(given) == 2 and not named, node)
                types = given[1].elts if isinstance(given[1], ast.Tuple) else given[1:]
                _require(all((self._known(one) or name_of(one)) in TYPES for one in types), node)
                values = given[:1]
            case ast.Name(id=name) if name in BUILTINS:
                _require(named <= {"strict", "start", "default"}, node)
                _require(not (self._is_constructor and name in ITERATORS), node)
            case ast.Name(id=name) if name in self._classes:
                _require(self._is_constructor and node in self._constructed, node)
            case ast.Name():
                _require(not self._is_constructor, node)  # it may give what is used up
                self._expression(called)
            case ast.Attribute(value=owner, attr=name) if self._is_self(owner):
                _require(name in self._own | self._layers and not self._is_constructor, node)
            case ast.Attribute(value=ast.Name(id=owner), attr="append" | "extend"):
                _require(owner in self._lists and not named, node)
            case ast.Attribute(value=owner, attr=name):
                # views of dicts have no deep copy
                _require(name in METHODS - (OF_DICTS if self._is_constructor else set()), node)
                self._require_plain(node, name)
                self._expression(owner)
            case _:
                _require(False, node)
        self._expressions(values)

    def _call_of_library(self, node: ast.Call, known: str) -> None:
        module, _, name = known.rpartition(".")
        _require(node in self._filling or self._is_function(known), node)
        if module == "torch.nn":
            _require(self._is_constructor and node in self._constructed, node)
            _require(name != "Module", node)
            _require({one.arg for one in node.keywords}.isdisjoint({"device", "dtype"}), node)
        if known == "torch.nn.Parameter":  # of numbers that nothing else holds
            match node.args:
                case [ast.Call(func=filling, keywords=[]) as call]:
                    where, _, how = (self._known(filling) or "").rpartition(".")
                    _require(where == "torch" and how in OF_PARAMETERS, node)
                    self._filling.add(call)
                case _:
                    _require(False, node)
        if known == "torch.finfo":
            _require(not self._is_constructor, node)  # it has no deep copy
        if known == "torch.nn.functional.dropout":  # it is random, but where nothing is dropped
            told = [one.value for one in node.keywords if one.arg == "training"] + node.args[2:]
            names = [one.attr for one in told if isinstance(one, ast.Attribute)]
            _require(names == ["training"], node)
        self._require_plain(node, name)

    def _require_plain(self, node: ast.Call, name: str) -> None:
        """Require that a call asks for nothing but numbers, and note whether memory matters."""
        if name in MOST_GIVEN:
            is_starred = any(isinstance(one, ast.Starred) for one in node.args)
            _require(not is_starred and len(node.args) <= MOST_GIVEN[name], node)
        _require({one.arg for one in node.keywords} <= KEYWORDS, node)
        self._noticed |= {"layout"} if name in OF_LAYOUT else set()


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement sets to which value, where it sets each thing to a value of its own.

    Args:
        node: Any node.
    """
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            if not any(isinstance(one, ast.Starred) for one in (*targets, *values)):
                yield from zip(targets, values, strict=False)  # or it raises
        case ast.Assign(targets=[target], value=value):
            yield target, value
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value


def _lists(function: ast.FunctionDef) -> set[str]:
    """Return the variables of a function that only ever hold lists which it makes."""
    nodes = [*ast.walk(function)]
    values = {target: value for node in nodes for target, value in _assigned(node)}
    made = {one for one, value in values.items() if isinstance(value, (ast.List, ast.ListComp))}
    stored = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    given = {one.arg for one in nodes if isinstance(one, ast.arg)}
    others = given | {one.id for one in stored if one not in made}
    return {one.id for one in stored} - others


def _is_plain(value: object) -> bool:
    """Return whether a constant is harmless: `"%r" % x` tells more of a tensor than its numbers."""
    return not isinstance(value, complex) and "%" not in str(value)


def _is_type(node: ast.expr) -> bool:
    """Return whether an annotation calls nothing."""
    parts = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Constant, ast.Tuple)
    return all(isinstance(one, (*parts, ast.List, ast.Load)) for one in ast.walk(node))
