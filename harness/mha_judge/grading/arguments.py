"""From the contract's arguments to the candidate's parameters, whatever these are called.

Arguments bind by name where every parameter that must be given is recognised, else by position.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from mha_judge.grading.failures import CheckFailure

_SYNONYMS: dict[str, str] = {
    "embed_dim": "embed_dim d_model hidden_size dim n_embd n_embed embed_size emb_size emb_dim "
    "embedding_dim embedding_size d model_dim num_hiddens dmodel hidden_dim hidden model_size e "
    "d_embed d_in dim_model input_dim features width n_state channels c d_emb emb d_hidden "
    "embed_dims in_features in_dim hid_dim dims dim_in",
    "num_heads": "num_heads n_heads heads h nhead n_head head_num num_attention_heads nheads "
    "head number_of_heads num_head heads_num n_query_heads num_query_heads query_heads "
    "num_q_heads n_q_heads q_heads hq attention_heads no_of_heads",
    "num_kv_heads": "num_kv_heads n_kv_heads kv_heads num_key_value_heads num_groups n_groups "
    "groups num_kv_groups n_kv_head kv_head n_kv g num_kv_head num_query_groups kv_num_heads hkv "
    "num_key_value_groups nkv n_group num_group key_value_heads kvheads",
    "q": "q query queries q_in query_in xq x_q qs q_x input_q query_input query_states",
    "k": "k key keys k_in key_in xk x_k ks k_x input_k key_input key_states",
    "v": "v value values v_in value_in xv x_v vs v_x input_v value_input value_states",
    "x": "x hidden_states hidden_state inputs input input_tensor embeddings tokens hidden src "
    "x_new inp h input_x x_in xs x_t seq sequence input_embeddings",
    "mask": "mask attn_mask attention_mask masks m src_mask att_mask",
    "cache": "cache kv_cache past past_kv past_key_value past_key_values kv past_cache layer_past "
    "past_k_v prev_cache state",
}
_VOCABULARY: dict[str, frozenset[str]] = {}
for _name, _words in _SYNONYMS.items():
    _VOCABULARY[_name] = frozenset(word.replace("_", "") for word in _words.split())

_EXTRAS: dict[str, frozenset[str]] = {
    "head_dim": frozenset(
        "headdim dk dv dhead dimhead headsize depth dq dkey dvalue sizeperhead qkvdim keydim "
        "valuedim dimperhead dimkey".split()
    ),
    "out_dim": frozenset("dout dimout outputdim outfeatures outdim outputsize".split()),
    "dropout": frozenset(
        "dropout p dropoutrate dropoutp drop attndropout attnpdrop attentiondropout dropoutprob "
        "pdrop droprate attnpdropout dropprob rate attentiondropoutrate residdropout projdrop "
        "attndrop pdropout attentionprobsdropoutprob".split()
    ),
    "temperature": frozenset("temperature temp".split()),
    "length": frozenset(
        "maxlen maxlength maxseqlen seqlen contextlength contextsize blocksize maxseqlength "
        "seqlength maxposition maxcontextlength sequencelength windowsize nctx maxsequencelength "
        "ctxlen contextlen maxlens".split()
    ),
    "bias": frozenset("bias qkvbias usebias attentionbias".split()),
    "flag": frozenset("causal iscausal returnweights needweights returnattention".split()),
    "nothing": frozenset("device dtype name config args".split()),
}


class Parameter(BaseModel):
    """One parameter of a candidate's function, as the worker describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    kind: str
    required: bool

    @property
    def word(self) -> str:
        return re.sub(r"[^a-z0-9]", "", self.name.lower())

    @property
    def extra(self) -> str | None:
        return next((name for name, words in _EXTRAS.items() if self.word in words), None)

    def means(self, argument: str) -> bool:
        if len(argument) == 1 and argument not in _VOCABULARY:
            return self.name == argument  # n and N are different letters
        known = _VOCABULARY.get(argument, frozenset()) | {argument.replace("_", "")}
        return self.word in known


Call = tuple[list[Any], dict[str, Any]]


class DoesNotFit(CheckFailure):
    """The candidate's parameters cannot take the contract's arguments."""


def bind(
    what: str,
    signature: Sequence[Parameter] | None,
    values: Mapping[str, Any],
    extras: Mapping[str, Any],
) -> Call:
    """Return positional and keyword arguments for one call.

    Args:
        what: What is called, for messages.
        signature: The candidate's parameters; None where they cannot be known.
        values: The contract's arguments in order; None may be left out.
        extras: Values for recognised parameters outside the contract.

    Raises:
        DoesNotFit: If the parameters cannot take the arguments.
    """
    if signature is None:
        return _leave_out_none(values), {}
    named = _by_name(signature, values)
    call = named if named is not None else _by_position(what, signature, values)
    given = set(call)
    for parameter in signature:
        if parameter.name in given or not parameter.required:
            continue
        if parameter.extra is None or parameter.extra not in extras:
            raise DoesNotFit(
                _complaint(what, signature, values, f"nothing to pass for `{parameter.name}`")
            )
        call[parameter.name] = extras[parameter.extra]
    return _split(signature, call)


def _leave_out_none(values: Mapping[str, Any]) -> list[Any]:
    items = list(values.values())
    while items and items[-1] is None:
        items.pop()
    return items


def _by_name(signature: Sequence[Parameter], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments by the candidate's own names, or None where names do not settle it."""
    call: dict[str, Any] = {}
    used: set[str] = set()
    for parameter in signature:
        if parameter.kind.startswith("var_"):
            continue
        argument = next(
            (name for name in values if name not in used and parameter.means(name)), None
        )
        if argument is None:
            if parameter.required and parameter.extra is None:
                return None
            continue
        used.add(argument)
        if values[argument] is not None or parameter.required:
            call[parameter.name] = values[argument]
    missing = [name for name, value in values.items() if value is not None and name not in used]
    return None if missing else call


def _by_position(
    what: str, signature: Sequence[Parameter], values: Mapping[str, Any]
) -> dict[str, Any]:
    places = [
        parameter
        for parameter in signature
        if parameter.kind in ("positional_only", "positional_or_keyword")
        and (parameter.extra is None or any(parameter.means(name) for name in values))
    ]
    items = _leave_out_none(values)
    call: dict[str, Any] = {}
    for parameter, item in zip(places, items, strict=False):
        call[parameter.name] = item
    for parameter, item in list(zip(places, values.values(), strict=False))[len(items) :]:
        if parameter.required:
            call[parameter.name] = item
    rest = items[len(places) :]
    if rest:
        if not any(parameter.kind == "var_positional" for parameter in signature):
            raise DoesNotFit(_complaint(what, signature, values, "that is too few"))
        call["*"] = rest
    return call


def _split(signature: Sequence[Parameter], call: dict[str, Any]) -> Call:
    """Pass positionally as long as there is no gap, by keyword after it."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    gap = False
    for parameter in signature:
        if parameter.name not in call:
            gap = gap or not parameter.kind.startswith("var_")
        elif gap or parameter.kind == "keyword_only":
            kwargs[parameter.name] = call[parameter.name]
        else:
            args.append(call[parameter.name])
    return [*args, *call.get("*", [])], kwargs


def _complaint(
    what: str, signature: Sequence[Parameter], values: Mapping[str, Any], why: str
) -> str:
    taken = ", ".join(parameter.name for parameter in signature) or "no parameters"
    needed = ", ".join(name for name, value in values.items() if value is not None)
    return f"{what} takes ({taken}); the contract passes ({needed}): {why}"


def extras_for(sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return values for constructor parameters that lie outside the contract.

    Args:
        sizes: What is known: `embed_dim`, `num_heads`, `head_dim`.
    """
    extras: dict[str, Any] = {
        "dropout": 0.0, "length": 256, "bias": True, "nothing": None, "flag": False,
    }  # fmt: skip
    width, heads = sizes.get("embed_dim"), sizes.get("num_heads")
    head_dim = sizes.get("head_dim")
    if width is not None:
        extras["out_dim"] = width
        if heads:
            head_dim = width // heads
    if head_dim is not None:
        extras["head_dim"] = head_dim
        extras["temperature"] = math.sqrt(head_dim)
    return extras
