"""Which weight is meant: from a parameter's path to the role of the map that it belongs to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

_AFFIX = (
    "(?:w|weights?|lin|linears?|proj|projs|projections?|projector|to|fc|layers?|dense|maps?|"
    "matrix|mat|transform|embed|embedding|c|m|heads?|multi|attn|self|get|net|all|cross|mlp|param|for|of|x|the)*"
)
_BASES = {
    "qkv": "qkvs?|cattn|inproj|querykeyvalue|queryskeysvalues|packed|in|combinedqkv",
    "kv": "kvs?|keyvalues?|keysvalues|ckv",
    "q": "q|qs|query|queries|que|quer|qry|cq",
    "k": "k|ks|key|keys|ck",
    "v": "v|vs|val|vals|value|values|cv",
    "out": "o|os|outs?|outputs?|concat|concatenate|unify|unifyheads|final|combined?|mix|result|"
    "last|res|back|merged?",
}
_PATTERNS = {role: re.compile(f"^{_AFFIX}(?:{bases}){_AFFIX}s?$") for role, bases in _BASES.items()}
MAX_PATH = 200
MAX_WORD = 40
_OUT_ALONE = frozenset("fc proj projection dense linear lin cproj ff fco w0 wout projo".split())
_INDEX = re.compile(r"[0-9]{1,6}$")
_CHINESE = {
    "查询": "query", "键": "key", "值": "value", "输出": "output", "投影": "proj", "映射": "map",
    "矩阵": "matrix", "权重": "weight", "偏置": "bias", "缩放": "scale", "平移": "shift",
}  # fmt: skip
_GREEK = re.compile(r"GREEK SMALL LETTER (?:FINAL )?([A-Z]+)")
_BIAS = re.compile(r"^(?:b|bias|biases)(?=[qkvo]|out|in|$)|(?:bias|biases)$")


def role_of(path: str, names: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str | None:
    """Return the role that a parameter's path names, or None.

    The names of queries, keys, values and fused maps count before those of the output, anywhere
    along the path: `query.linear.weight` is a q. Those of the problem's own roles count first.

    Args:
        path: The parameter's.
        names: By role, further names of a problem's own, in lower-case letters.
    """
    words = [_word(component) for component in path[:MAX_PATH].split(".")]
    words = [word for word in words if 0 < len(word) <= MAX_WORD]  # patterns need a bound
    for role, own in names.items():
        if any(_core(word) in own or word in own for word in words):
            return role
    if words and words[-1] == "attn":  # the map itself, not a module that holds maps
        return "qkv"
    for role in ("qkv", "kv", "q", "k", "v"):
        pattern = _PATTERNS[role]
        if any(pattern.match(word) for word in words):
            return role
    if any(_PATTERNS["out"].match(word) or word in _OUT_ALONE for word in words):
        return "out"
    return None


@lru_cache(maxsize=4096)  # every arrangement tried asks for the same few
def fold(name: str) -> str:
    """Return a name in small letters: NFKC, Greek letters by their names, some Chinese words."""
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


def said_of(path: str, names: Mapping[str, Sequence[str]]) -> tuple[str | None, bool]:
    """Return the role that a parameter's path names, or None, and whether it names a bias."""
    return role_of(map_path(path), names), is_bias(path)


def heads_index(path: str) -> tuple[int, ...]:
    """Return the numbers that parts of a path are or end with, which order the maps of a list."""
    return tuple(int(found[0]) for part in path.split(".") if (found := _INDEX.search(part)))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", fold(name))


def _word(component: str) -> str:
    word = _letters(component)
    stripped = re.sub(r"(?:weights?|biases|bias)$|^(?:weights?|biases|bias)", "", word)
    return "" if stripped in ("", "b") else stripped
