"""From the contract's arguments to the candidate's parameters, whatever these are called.

Names settle it where they are recognised; what they leave open goes by position.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mha_judge.grading.failures import CheckFailure

_SYNONYMS: dict[str, str] = {
    "embed_dim": "embed_dim d_model hidden_size dim n_embd n_embed embed_size emb_size emb_dim "
    "embedding_dim embedding_size d model_dim num_hiddens dmodel hidden_dim hidden model_size e "
    "d_embed d_in dim_model input_dim features width n_state channels c d_emb emb d_hidden "
    "embed_dims in_features in_dim hid_dim dims dim_in model_dimension units width_of_model",
    "num_heads": "num_heads n_heads heads h nhead n_head head_num num_attention_heads nheads "
    "head number_of_heads num_head heads_num n_query_heads num_query_heads query_heads "
    "num_q_heads n_q_heads q_heads hq attention_heads no_of_heads head_count nums_head nums_heads",
    "num_kv_heads": "num_kv_heads n_kv_heads kv_heads num_key_value_heads num_groups n_groups "
    "groups num_kv_groups n_kv_head kv_head n_kv g num_kv_head num_query_groups kv_num_heads hkv "
    "num_key_value_groups nkv n_group num_group key_value_heads kvheads"
    " nums_kv_head nums_kv_heads nums_key_value_head nums_key_value_heads",
    "q": "q query queries q_in query_in xq x_q qs q_x input_q query_input query_states",
    "k": "k key keys k_in key_in xk x_k ks k_x input_k key_input key_states",
    "v": "v value values v_in value_in xv x_v vs v_x input_v value_input value_states",
    "x": "x hidden_states hidden_state inputs input input_tensor embeddings tokens hidden src "
    "x_new inp h input_x x_in xs x_t seq sequence input_embeddings",
    "mask": "mask attn_mask attention_mask masks m src_mask att_mask",
    "cache": "cache kv_cache past past_kv past_key_value past_key_values kv past_cache layer_past "
    "past_k_v prev_cache state latent_cache c_kv latents",
    "context": "context memory encoder_output enc_output encoder_hidden_states encoder_outputs "
    "enc_out kv_input ctx cond encoder_states y mem encoder_out x_kv context_states source",
    "context_dim": "context_dim d_context ctx_dim cross_dim d_cross cross_attention_dim kv_dim "
    "c context_size encoder_dim d_memory memory_dim d_ctx dim_context d_kv kdim",
    "context_mask": "context_mask memory_mask mask encoder_mask enc_mask encoder_attention_mask "
    "src_mask ctx_mask attention_mask key_padding_mask padding_mask attn_mask cross_mask "
    "masks att_mask",
    "memory": "memory encoder_output enc_output encoder_hidden_states encoder_outputs enc_out "
    "context mem encoder_out encoder_states enc",
    "memory_mask": "memory_mask src_mask encoder_mask enc_mask cross_mask mask context_mask "
    "encoder_attention_mask cross_attn_mask cross_attention_mask src_padding_mask masks "
    "padding_mask enc_dec_mask dec_enc_attn_mask dec_enc_mask",
    "ffn_dim": "ffn_dim d_ff dim_feedforward ff_dim d_ffn hidden_dim ffn_hidden ff_hidden "
    "ffn_num_hiddens intermediate_size feed_forward_dim mlp_dim d_inner dff forward_expansion_dim "
    "ffn_size ff_size dim_ff ffn_hidden_dim ffn_hidden_size",
    "window": "window window_size w win size_of_window window_length win_size local_window",
    "block_size": "block_size block bs bc tile_size tile chunk_size block_len kv_block_size",
    "causal": "causal is_causal",
    "positions": "positions position_ids pos position idx m token_positions",
    "base": "base theta rope_theta rope_base freq_base",
    "length": "length seq_len max_len n l max_length seq_length max_seq_len sequence_length "
    "num_positions n_positions size max_position t steps",
    "seq_len": "seq_len n seq_length max_seq_len max_len length sequence_length l block_size "
    "context_length input_len num_tokens",
    "proj_len": "proj_len k proj_dim dim_k d_k proj_size proj_length projected_len projection_dim "
    "low_rank linformer_k rank k_proj_len projected_length num_proj",
    "max_distance": "max_distance max_relative_position max_rel_pos m clip max_relative_distance "
    "max_dist k max_rel_dist window clip_distance max_relative_positions max_len",
    "latent_dim": "latent_dim d_latent kv_lora_rank d_c c latent latent_size kv_latent_dim "
    "kv_rank compressed_dim d_compressed kv_dim rank latent_kv_dim d_kv_latent compression_dim",
    "stride": "stride step dilation s",
    "num_global": "num_global n_global global_tokens num_global_tokens g global_size n_globals",
    "key_padding_mask": "key_padding_mask padding_mask pad_mask key_mask",
    "valid_lens": "valid_lens valid_len valid_lengths lengths lens valid_length",
    "queries": "queries q query",
    "keys": "keys k key",
    "values": "values v value",
    "num_hiddens": "num_hiddens embed_dim d_model hidden_size",
    "grad_output": "grad_output grad_out dout d_out do dy grad_o upstream g grad d_output dout_",
    "axis": "axis dim",
    "dropout": "dropout p dropout_rate dropout_p drop attn_dropout attn_pdrop attention_dropout "
    "dropout_prob p_drop drop_rate drop_prob rate attention_dropout_rate attn_drop p_dropout "
    "attention_probs_dropout_prob dropout_probability",
}
_VOCABULARY: dict[str, frozenset[str]] = {}
for _name, _words in _SYNONYMS.items():
    _VOCABULARY[_name] = frozenset(word.replace("_", "") for word in _words.split())

_EXTRAS: dict[str, frozenset[str]] = {
    "head_dim": frozenset(
        "headdim dk dv dhead dimhead headsize depth dq dkey dvalue sizeperhead qkvdim keydim "
        "valuedim dimperhead dimkey attnheadsize dimk dimq dimv attentionheadsize".split()
    ),
    "out_dim": frozenset("dout dimout outputdim outfeatures outdim outputsize".split()),
    "dropout": frozenset(
        "dropout p dropoutrate dropoutp drop attndropout attnpdrop attentiondropout dropoutprob "
        "pdrop droprate attnpdropout dropprob rate attentiondropoutrate residdropout projdrop "
        "attndrop pdropout attentionprobsdropoutprob dropoutprobability".split()
    ),
    "temperature": frozenset("temperature temp".split()),
    "length": frozenset(
        "maxlen maxlength maxseqlen seqlen contextlength contextsize blocksize maxseqlength "
        "seqlength maxposition maxcontextlength sequencelength windowsize nctx maxsequencelength "
        "ctxlen contextlen maxlens".split()
    ),
    "bias": frozenset("bias qkvbias usebias attentionbias".split()),
    "flag": frozenset(
        "causal iscausal returnweights needweights returnattention logattentionweights verbose "
        "debug returnattn outputattentions".split()
    ),
    "nothing": frozenset("device dtype name".split()),
    "scale": frozenset("scale scalefactor scaling".split()),
    "input_width": frozenset("querysize qdim inputsize".split()),
    "context_width": frozenset("keysize valuesize kdim vdim".split()),
    "heads": frozenset(word.replace("_", "") for word in _SYNONYMS["num_heads"].split()),
}


_ALWAYS = ("head_dim", "out_dim", "input_width", "context_width")
"""Sizes that are passed even where there is a default: it was chosen for another width."""
_NEVER_BY_POSITION = ("mask", "cache")
_CONFIGURATIONS = ("config", "cfg", "args", "conf", "hparams", "opt", "params")


class Parameter(BaseModel):
    """One parameter of a candidate's function, as the worker describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    name: Annotated[str, Field(max_length=100)]
    kind: Annotated[str, Field(max_length=40)]
    required: bool

    @property
    def word(self) -> str:
        return _word(self.name)

    @property
    def extra(self) -> str | None:
        return _extra_of(self.name)

    def means(self, argument: str) -> bool:
        return _means(self.name, argument)


# The same few names are looked up at every call.
@lru_cache(maxsize=4096)
def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


@lru_cache(maxsize=4096)
def _extra_of(name: str) -> str | None:
    return next((extra for extra, words in _EXTRAS.items() if _word(name) in words), None)


@lru_cache(maxsize=4096)
def _means(name: str, argument: str) -> bool:
    if len(argument) == 1 and argument not in _VOCABULARY:
        return name == argument  # n and N are different letters
    known = _VOCABULARY.get(argument, frozenset()) | {argument.replace("_", "")}
    return _word(name) in known


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

    Arguments go to the parameters whose names are recognised; what is left goes to the remaining
    parameters in order. So names settle it where they can, and positions where they cannot.

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
    values = _as_query_key_value(signature, values)
    call, left = _by_name(signature, values)
    missing = _by_position(signature, call, {name: values[name] for name in left}, values)
    if missing:
        raise DoesNotFit(_complaint(what, signature, values, missing))
    for parameter in signature:
        if parameter.name not in call and (parameter.required or parameter.extra in _ALWAYS):
            call.update(_extra(what, parameter, signature, values, extras))
    return _split(signature, call)


def _leave_out_none(values: Mapping[str, Any]) -> list[Any]:
    items = list(values.values())
    while items and items[-1] is None:
        items.pop()
    return items


def _as_query_key_value(
    signature: Sequence[Parameter], values: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the arguments with one sequence x given three times, where q, k and v are asked for.

    Self-attention written as `forward(query, key, value)` is called with x for each of them,
    cross-attention with the context for keys and values.
    """
    asked = [name for name in "qkv" if any(p.means(name) and p.required for p in signature)]
    if "x" not in values or len(asked) != 3:
        return values
    others = {name: v for name, v in values.items() if name not in ("x", "context")}
    context = values.get("context", values["x"])
    return {name: values["x"] if name == "q" else context for name in asked} | others


def _by_name(
    signature: Sequence[Parameter], values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments whose parameters are recognised, and the names of the others."""
    call: dict[str, Any] = {}
    used: set[str] = set()
    places = list(values)
    meanings = {
        index: [name for name in places if parameter.means(name)]
        for index, parameter in enumerate(signature)
        if not parameter.kind.startswith("var_")
    }
    # `h` is heads or hidden states: names of one meaning come first, then places tell
    for index in sorted(meanings, key=lambda index: len(meanings[index]) > 1):
        parameter, meant = signature[index], meanings[index]
        if parameter.name == "H":
            meant.sort(key=lambda name: name != "num_heads")  # h may be hidden states, H is not
        elif len(meant) > 1:
            meant.sort(key=lambda name: places.index(name) != index)
        argument = next((name for name in meant if name not in used), None)
        if argument is not None:
            used.add(argument)
            if values[argument] is not None or parameter.required:
                call[parameter.name] = values[argument]
        elif "embed_dim" in meant and parameter.required:
            call[parameter.name] = values["embed_dim"]  # (input_dim, embed_dim, num_heads)
    return call, [name for name in values if name not in used]


def _by_position(
    signature: Sequence[Parameter],
    call: dict[str, Any],
    left: Mapping[str, Any],
    values: Mapping[str, Any],
) -> list[str]:
    """Give what names did not settle to the free parameters in order; return what found none.

    A parameter whose name says that it is something else (a mask, a dropout) is not free.
    """
    masks = [name for name in left if name.endswith("mask")]
    for parameter in signature:  # a mask of any name, where the contract has one of its own
        if masks and parameter.name not in call and parameter.means("mask"):
            name = masks.pop(0)
            if left[name] is not None or parameter.required:
                call[parameter.name] = left[name]
            left = {other: value for other, value in left.items() if other != name}
    free = [
        parameter
        for parameter in signature
        if parameter.name not in call
        and parameter.kind in ("positional_only", "positional_or_keyword")
        and not parameter.extra
        and not any(parameter.means(name) for name in (*values, *_NEVER_BY_POSITION))
    ]
    wanted = [name for name, value in left.items() if value is not None]
    if len(wanted) > len(free):  # `merge_heads(heads)`: what must be given cannot be something else
        free = [
            parameter
            for parameter in signature
            if parameter.name not in call
            and (parameter in free or parameter.required)
            and parameter.kind in ("positional_only", "positional_or_keyword")
        ]
    wanted += [name for name, value in left.items() if value is None]
    for parameter, name in zip(free, wanted, strict=False):
        if left[name] is not None or parameter.required:
            call[parameter.name] = left[name]
    rest = [name for name in wanted[len(free) :] if left[name] is not None]
    if rest and any(parameter.kind == "var_positional" for parameter in signature):
        call["*"] = [left[name] for name in rest]
        return []
    return rest


def _extra(
    what: str,
    parameter: Parameter,
    signature: Sequence[Parameter],
    values: Mapping[str, Any],
    extras: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the value of a parameter outside the contract; none where a default will do."""
    if parameter.extra is not None and parameter.extra in extras:
        return {parameter.name: extras[parameter.extra]}
    if parameter.required and any(parameter.means(name) for name in _NEVER_BY_POSITION):
        return {parameter.name: None}
    if parameter.required and not parameter.kind.startswith("var_"):
        raise DoesNotFit(
            f"{what} takes ({_names(signature)}); "
            f"the contract has nothing to pass for `{parameter.name}`: give it a default"
        )
    return {}


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
    what: str,
    signature: Sequence[Parameter],
    values: Mapping[str, Any],
    missing: Sequence[str],
) -> str:
    needed = ", ".join(name for name, value in values.items() if value is not None)
    listed = ", ".join(f"`{name}`" for name in missing)
    text = f"{what} takes ({_names(signature)}); the contract passes ({needed})"
    if any(parameter.word in _CONFIGURATIONS for parameter in signature):
        return f"{text}: take them as arguments of their own, not in one configuration object"
    if "k" in missing and any(parameter.means("x") for parameter in signature):
        return (
            f"{text}: one sequence is self-attention, but here keys come from `k`, values from `v`"
        )
    return f"{text}: no parameter is left for {listed}"


def _names(signature: Sequence[Parameter]) -> str:
    return ", ".join(parameter.name for parameter in signature) or "no parameters"


def extras_for(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for constructor parameters that lie outside the contract.

    Args:
        sizes: What is known: `embed_dim`, `num_heads`, `head_dim`, `context_dim`.
    """
    extras: dict[str, Any] = {
        "dropout": 0.0, "length": 4096, "bias": True, "nothing": None, "flag": False,
    }  # fmt: skip
    width, heads = sizes.get("embed_dim"), sizes.get("num_heads")
    head_dim = sizes.get("head_dim")
    if heads is not None:
        extras["heads"] = heads
    if width is not None:
        extras["out_dim"] = extras["input_width"] = width
        extras["context_width"] = sizes.get("context_dim", width)
        if heads:
            head_dim = width // heads
    if head_dim is not None:
        extras["head_dim"] = head_dim
        extras["temperature"] = math.sqrt(head_dim)
        extras["scale"] = 1 / math.sqrt(head_dim) if head_dim else 1.0
    return extras
