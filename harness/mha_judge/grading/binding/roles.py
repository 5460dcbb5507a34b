"""Finds the role of the map that a parameter belongs to, from the parameter's path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from mha_judge.bank.vocabulary import Vocabulary

MAX_PATH = 200
MAX_WORD = 40
_INDEX = re.compile(r"[0-9]{1,6}$")
_CHINESE = {
    "查询": "query", "键": "key", "值": "value", "输出": "output", "投影": "proj", "映射": "map",
    "矩阵": "matrix", "权重": "weight", "偏置": "bias", "缩放": "scale", "平移": "shift",
}  # fmt: skip
_GREEK = re.compile(r"GREEK SMALL LETTER (?:FINAL )?([A-Z]+)")
_BIAS = re.compile(r"^(?:b|bias|biases)(?=[qkvo]|out|in|$)|(?:bias|biases)$")


def role_of(
    path: str, words: Vocabulary, names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> str | None:
    """Return the role that a parameter's path names, or None.

    The names of queries, keys, values and fused maps count before those of the output, anywhere
    along the path: `query.linear.weight` is a q. Those of the problem's own roles count first.

    Args:
        path: The parameter's.
        words: What candidates call roles.
        names: By role, further names of a problem's own, in lower-case letters.
    """
    parts = [_word(component) for component in path[:MAX_PATH].split(".")]
    parts = [part for part in parts if 0 < len(part) <= MAX_WORD]  # patterns need a bound
    for role, own in names.items():
        if any(_core(part) in own or part in own for part in parts):
            return role
    return words.role_in(parts)


def groups_in(path: str, groups: Iterable[str], words: Vocabulary) -> frozenset[str]:
    """Return the groups of roles that a path names."""
    folded = fold(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", path))
    patterns = {group: words.group_pattern(group) for group in groups}
    return frozenset(g for g, pattern in patterns.items() if pattern and pattern.search(folded))


@lru_cache(maxsize=4096)  # every arrangement tried asks for the same few
def fold(name: str) -> str:
    """Return a name in lower case: NFKC, Greek letters by their names, some Chinese words."""
    plain = unicodedata.normalize("NFKC", name).lower()
    for word, english in _CHINESE.items():
        plain = plain.replace(word, english)
    greek = [(letter, _GREEK.match(unicodedata.name(letter, ""))) for letter in plain]
    return "".join(found[1].lower() if found else letter for letter, found in greek)


def _core(word: str) -> str:
    """Return a word without what says only that it is a map: `wukproj` is `uk`."""
    return re.sub(r"^(?:w|to|lin|linear|fc)(?=..)|(?:proj|projection|linear|layer|map)$", "", word)


def is_bias(path: str) -> bool:
    """Return whether the name of a parameter says that it is a bias."""
    return bool(_BIAS.search(_letters(path.split(".")[-1])))


def map_path(path: str) -> str:
    """Return the path of the map that a parameter belongs to: weight and bias share one."""
    *parents, last = path.split(".")
    word = _letters(last)
    if word in ("weight", "bias", "w", "b", "kernel"):
        number = re.sub(r"[^0-9]", "", last)  # w_1 and b_1, w_2 and b_2
        return ".".join([*parents, number] if number else parents) or path
    stripped = re.sub(
        r"^(?:bias|weight|b(?=[_qkvo])|w(?=[_qkvo]))_?|_?(?:bias|weight)$", "", fold(last)
    )
    return ".".join([*parents, stripped or last])


def said_of(
    path: str, words: Vocabulary, names: Mapping[str, Sequence[str]]
) -> tuple[str | None, bool]:
    """Return the role that a parameter's path names, or None, and whether it names a bias."""
    return role_of(map_path(path), words, names), is_bias(path)


def heads_index(path: str) -> tuple[int, ...]:
    """Return the numbers at the ends of a path's parts, which order the maps of a list."""
    return tuple(int(found[0]) for part in path.split(".") if (found := _INDEX.search(part)))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", fold(name))


def _word(component: str) -> str:
    word = _letters(component)
    stripped = re.sub(r"(?:weights?|biases|bias)$|^(?:weights?|biases|bias)", "", word)
    return "" if stripped in ("", "b") else stripped
