"""The weights find their parameters in the styles that people write, the likeliest first."""

import itertools
from dataclasses import replace

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.binding import weights
from mha_judge.grading.binding.weights import MAX_ARRANGEMENTS, ParameterInfo, RoleWeights, Unbound

WORDS = Bank.builtin().vocabulary()

E, H = 6, 2  # embedding width, heads
D = E // H
NAMES = ("q", "k", "v", "out")


def arrangements(parameters, wanted):
    return list(weights.arrangements(parameters, wanted, WORDS))


def roles(heads=H, kv_heads=H):
    generator = torch.Generator().manual_seed(3)
    sizes = {
        "q": (E, heads),
        "k": (D * kv_heads, kv_heads),
        "v": (D * kv_heads, kv_heads),
        "out": (E, heads),
    }
    return [
        RoleWeights(
            name,
            torch.randn(out, E, generator=generator),
            torch.randn(out, generator=generator),
            count,
            "in" if name == "out" else "out",
        )
        for name, (out, count) in sizes.items()
    ]


WEIGHTS = {role.name: role for role in roles()}
FUSED = torch.cat([WEIGHTS[name].weight for name in "qkv"])
FUSED_BIAS = torch.cat([WEIGHTS[name].bias for name in "qkv"])


def of(path, shape, owner=""):
    return ParameterInfo(path=path, shape=None if shape is None else list(shape), owner=owner)


def linear(path, out=E, in_=E, bias=True):
    found = [of(f"{path}.weight", (out, in_), "Linear")]
    return found + ([of(f"{path}.bias", (out,), "Linear")] if bias else [])


def linears(*paths, bias=True):
    return [parameter for path in paths for parameter in linear(path, bias=bias)]


@pytest.mark.parametrize(
    "paths",
    [
        ("q_proj", "k_proj", "v_proj", "out_proj"),
        ("w_q", "w_k", "w_v", "w_concat"),
        ("linears.0", "linears.1", "linears.2", "linears.3"),
        ("W_query", "W_key", "W_value", "out_proj"),
        ("fc_q", "fc_k", "fc_v", "fc_o"),
        ("fc_q", "fc_k", "fc_v", "fc"),
        ("queries", "keys", "values", "fc_out"),
        ("toqueries", "tokeys", "tovalues", "unifyheads"),
        ("w_qs", "w_ks", "w_vs", "fc"),
        ("a", "b", "c", "d"),
        ("query", "key", "value", "zzz"),
    ],
    ids=lambda paths: " ".join(paths),
)
@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
def test_four_linear_maps_get_their_role_by_name_else_by_order(paths, bias):
    first = arrangements(linears(*paths, bias=bias), roles())[0]

    for path, name in zip(paths, NAMES, strict=True):
        assert torch.equal(first.values[f"{path}.weight"], WEIGHTS[name].weight)
        if bias:
            assert torch.equal(first.values[f"{path}.bias"], WEIGHTS[name].bias)
    assert first.biased == (set(NAMES) if bias else set())
    assert first.unbound == ()


def test_names_decide_against_the_order_of_definition():
    first = arrangements(linears("values", "keys", "queries", "fc_out"), roles())[0]

    assert torch.equal(first.values["values.weight"], WEIGHTS["v"].weight)
    assert torch.equal(first.values["queries.weight"], WEIGHTS["q"].weight)


@pytest.mark.parametrize(
    ("parameters", "fused", "out"),
    [
        (
            [of("in_proj_weight", (3 * E, E)), of("in_proj_bias", (3 * E,)), *linear("out_proj")],
            ("in_proj_weight", FUSED),
            ("out_proj.weight", WEIGHTS["out"].weight),
        ),
        (
            [*linear("to_qkv", 3 * E, bias=False), *linear("to_out.0")],
            ("to_qkv.weight", FUSED),
            ("to_out.0.weight", WEIGHTS["out"].weight),
        ),
        (
            [*linear("qkv", 3 * E), *linear("proj")],
            ("qkv.weight", FUSED),
            ("proj.weight", WEIGHTS["out"].weight),
        ),
        (
            [
                of("c_attn.weight", (E, 3 * E)),
                of("c_attn.bias", (3 * E,)),
                of("c_proj.weight", (E, E)),
                of("c_proj.bias", (E,)),
            ],
            ("c_attn.weight", FUSED.T),
            ("c_proj.weight", WEIGHTS["out"].weight.T),
        ),
        (
            [*linear("one", 3 * E), *linear("two")],
            ("one.weight", FUSED),
            ("two.weight", WEIGHTS["out"].weight),
        ),
    ],
    ids=["in_proj_weight", "to_qkv", "qkv", "c_attn", "unnamed"],
)
def test_a_fused_map_holds_queries_keys_and_values_one_after_the_other(parameters, fused, out):
    first = arrangements(parameters, roles())[0]

    assert torch.equal(first.values[fused[0]], fused[1])
    assert torch.equal(first.values[out[0]], out[1])
    biases = [value for path, value in first.values.items() if path.endswith("bias")]
    assert any(torch.equal(bias, WEIGHTS["out"].bias) for bias in biases)
    assert first.unbound == ()


def test_a_fused_bias_is_laid_out_as_its_map():
    parameters = [*linear("qkv", 3 * E), *linear("proj")]

    for arrangement in arrangements(parameters, roles()):
        rows = [int(row) for row in _where(arrangement.values["qkv.weight"], FUSED)]
        assert torch.equal(arrangement.values["qkv.bias"], FUSED_BIAS[rows])


def _where(rows, among):
    return [(among == row).all(1).nonzero()[0, 0] for row in rows]


def test_a_fused_map_is_also_tried_head_by_head_and_in_other_orders():
    found = arrangements([*linear("qkv", 3 * E), *linear("proj")], roles())

    assert len({tuple(one.values["qkv.weight"].flatten().tolist()) for one in found}) == 3 * 6


def test_a_query_map_beside_a_fused_key_value_map():
    first = arrangements([*linears("to_q"), *linear("to_kv", 2 * E), *linears("to_out")], roles())[
        0
    ]

    assert torch.equal(first.values["to_q.weight"], WEIGHTS["q"].weight)
    assert torch.equal(first.values["to_kv.weight"], FUSED[E:])


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("heads.{}.{}", ("query", "key", "value")),
        ("W_{1}s.{0}", ("Q", "K", "V")),
        ("{1}.{0}", ("queries", "keys", "values")),
    ],
    ids=["heads.0.key", "W_Qs.0", "queries.0"],
)
def test_a_list_of_one_map_a_head_holds_the_heads_in_order(name, parts):
    parameters = [
        of(name.format(head, part) + ".weight", (D, E), "Linear")
        for head in range(H)
        for part in parts
    ]

    first = arrangements([*parameters, *linear("proj")], roles())[0]

    for part, role in zip(parts, "qkv", strict=True):
        found = [first.values[name.format(head, part) + ".weight"] for head in range(H)]
        assert torch.equal(torch.cat(found), WEIGHTS[role].weight)


@pytest.mark.parametrize(
    ("equation", "shape"),
    [("bte,hed->bthd", (H, E, D)), ("bte,ehd->bthd", (E, H, D)), ("bte,hde->bthd", (H, D, E))],
)
def test_raw_parameters_with_an_axis_for_the_heads_compute_the_same_heads(equation, shape):
    parameters = [of(name, shape) for name in ("W_q", "W_k", "W_v")] + [of("W_o", (H, D, E))]
    x = torch.randn(2, 5, E)

    first = arrangements(parameters, roles())[0]

    heads = torch.einsum(equation, x, first.values["W_q"])
    torch.testing.assert_close(heads.flatten(2), x @ WEIGHTS["q"].weight.T)
    joined = torch.einsum("bthd,hde->bte", heads, first.values["W_o"])
    torch.testing.assert_close(joined, heads.flatten(2) @ WEIGHTS["out"].weight.T)


def test_raw_square_matrices_are_used_as_x_times_w_first():
    parameters = [of(name, (E, E)) for name in ("Wq", "Wk", "Wv", "Wo")]
    parameters += [of(name, (E,)) for name in ("bq", "bk", "bv", "bo")]

    first = arrangements(parameters, roles())[0]

    assert torch.equal(first.values["Wq"], WEIGHTS["q"].weight.T)
    assert torch.equal(first.values["bo"], WEIGHTS["out"].bias)
    assert first.biased == set(NAMES)


def test_grouped_keys_and_values_have_fewer_rows():
    wanted = roles(2, 1)
    parameters = [*linear("wq"), *linear("wk", D), *linear("wv", D), *linear("wo")]

    first = arrangements(parameters, wanted)[0]

    assert torch.equal(first.values["wk.weight"], wanted[1].weight)


def test_only_the_biases_that_are_there_are_set():
    parameters = [*linears("q_proj", bias=False), *linears("k_proj", "v_proj", "out_proj")]

    assert arrangements(parameters, roles())[0].biased == {"k", "v", "out"}


def test_what_no_role_claims_keeps_the_candidates_values():
    parameters = [*linears("q_proj", "k_proj", "v_proj", "out_proj"), of("scale", (1,))]

    assert arrangements(parameters, roles())[0].unbound == ("scale",)


@pytest.mark.parametrize(
    "parameters",
    [
        [],
        linears("q_proj", "k_proj", "v_proj"),
        [*linears("q_proj", "k_proj", "v_proj"), *linear("out_proj", 7)],
        [*linear("qkv", 2 * E), *linear("proj")],
        linears("a", "b", "c", "d", "e"),
        [of("lazy.weight", None, "Linear"), *linears("k_proj", "v_proj", "out_proj")],
    ],
    ids=["none", "three", "too wide", "fused of two", "five unnamed", "lazy"],
)
def test_weights_that_do_not_fit_list_what_was_found_and_what_is_wanted(parameters):
    with pytest.raises(Unbound) as raised:
        arrangements(parameters, roles())

    found, wanted = str(raised.value).split("; wanted ")
    assert "the layer's weights do not fit the contract: found " in found
    assert all(parameter.path in found for parameter in parameters) and (
        parameters or "none" in found
    )
    assert wanted == "q 6×6, k 6×6, v 6×6, out 6×6"


def test_a_bias_of_another_size_is_not_squeezed_in():
    parameters = [of("q_proj.weight", (E, E), "Linear"), of("q_proj.bias", (3,), "Linear")]

    with pytest.raises(Unbound):
        arrangements([*parameters, *linears("k_proj", "v_proj", "out_proj")], roles())


def test_the_search_is_bounded():
    parameters = [of(name, (E, E)) for name in ("one", "two", "three", "four")]

    assert 1 < len(arrangements(parameters, roles())) <= MAX_ARRANGEMENTS


C, M, N, P = 4, 7, 11, 5  # latent width, rows of a table, length, projected length


def role(name, out, in_, **options):
    generator = torch.Generator().manual_seed(out * in_)
    weight = torch.randn(out, in_, generator=generator)
    return RoleWeights(name, weight, torch.randn(out, generator=generator), **options)


def latent_roles():
    return [
        role("q", E, E, heads=H),
        role("down", C, E, names=("down", "dkv")),
        role("k", E, C, heads=H, names=("uk",)),
        role("v", E, C, heads=H, names=("uv",)),
        role("out", E, E, heads=H, split="in"),
    ]


def test_a_fused_map_without_a_name_carries_what_names_and_shapes_leave_over():
    wanted = latent_roles()
    parameters = [*linear("kv_b", 2 * E, C), *linear("kv_a", C, E), *linears("o_proj", "q_proj")]

    first = arrangements(parameters, wanted)[0]

    both = torch.cat([wanted[2].weight, wanted[3].weight])
    assert torch.equal(first.values["kv_b.weight"], both)
    assert torch.equal(first.values["kv_a.weight"], wanted[1].weight)
    assert torch.equal(first.values["q_proj.weight"], wanted[0].weight)


def test_matrices_beside_linear_maps_have_an_orientation_of_their_own():
    wanted = latent_roles()
    parameters = [*linears("W_q", "W_o"), of("W_dkv", (E, C)), of("W_uk", (C, E))]

    first = arrangements([*parameters, of("W_uv", (C, E))], wanted)[0]

    assert torch.equal(first.values["W_q.weight"], wanted[0].weight)
    assert torch.equal(first.values["W_dkv"], wanted[1].weight.T)
    assert torch.equal(first.values["W_uv"], wanted[3].weight.T)


def test_maps_with_an_axis_for_the_heads_may_each_order_it_otherwise():
    wanted = latent_roles()
    parameters = [*linears("W_q", "W_o"), *linear("W_dkv", C, E)]
    parameters += [of("W_uk", (H, D, C)), of("W_uv", (H, C, D))]

    first = arrangements(parameters, wanted)[0]

    heads = wanted[2].weight.reshape(H, D, C), wanted[3].weight.reshape(H, D, C)
    assert torch.equal(first.values["W_uk"], heads[0])
    assert torch.equal(first.values["W_uv"], heads[1].transpose(1, 2))


@pytest.mark.parametrize("heads", [1, H])
@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("path", ["relative_bias", "bias_table", "embedding.weight"])
def test_a_table_is_found_in_either_orientation_whatever_its_name(heads, turned, path):
    table = role("table", M, heads, kind="table")
    wanted = [*roles(), table]
    shape = (heads, M) if turned else (M, heads)
    owner = "Embedding" if path.endswith("weight") else ""

    first = arrangements([of(path, shape, owner), *linears("a", "b", "c", "d")], wanted)[0]

    assert torch.equal(first.values[path], table.weight.T if turned else table.weight)
    assert torch.equal(first.values["c.weight"], WEIGHTS["v"].weight)


@pytest.mark.parametrize("names", [("to_k", "proj_k"), ("key", "E_proj"), ("W_k", "E")])
def test_roles_of_one_name_are_told_apart_by_what_fits(names):
    long, short = (
        role(name, P, N, kind="table", group="length", names=(letter,))
        for name, letter in (("k", "e"), ("v", "f"))
    )
    wanted = [*roles()[:3], long, short, roles()[3]]
    parameters = [of("proj_v", (N, P)), of(names[1], (N, P)), *linears("to_out", "to_v", "to_q")]

    first = arrangements([*parameters, *linear(names[0])], wanted)[0]

    assert torch.equal(first.values[names[1]], long.weight.T)
    assert torch.equal(first.values["proj_v"], short.weight.T)
    assert torch.equal(first.values[f"{names[0]}.weight"], WEIGHTS["k"].weight)


def block_roles():
    """The roles of a block: one attention, two norms and a feed-forward layer 11 wide."""
    generator = torch.Generator().manual_seed(5)
    ffn1, ffn2 = torch.randn(11, E, generator=generator), torch.randn(E, 11, generator=generator)
    norms = [torch.randn(E, generator=generator) for _ in range(2)]
    return [
        *roles(),
        RoleWeights("norm1", norms[0], norms[0] + 1, kind="norm"),
        RoleWeights("ffn1", ffn1, torch.randn(11, generator=generator)),
        RoleWeights("ffn2", ffn2, torch.randn(E, generator=generator)),
        RoleWeights("norm2", norms[1], norms[1] + 1, kind="norm"),
    ]


def norm(path):
    return [of(f"{path}.weight", (E,)), of(f"{path}.bias", (E,))]


ATTENTION = linears("q_proj", "k_proj", "v_proj", "out_proj")
SQUARE = {"W": (E, E), "b": (E,)}


@pytest.mark.parametrize(
    ("parameters", "lack"),
    [
        (
            [*ATTENTION, *linear("up", 11, E), *linear("down", E, 11), *norm("norm")],
            "it has 2 norms; 1 of the vectors found can scale one",
        ),
        (
            [*ATTENTION, *linear("up", 24, E), *linear("down", E, 24), *norm("a"), *norm("b")],
            "nothing fits ffn1, ffn2",
        ),
    ],
    ids=["one norm", "another width"],
)
def test_a_block_without_some_of_its_weights_is_told_which(parameters, lack):
    with pytest.raises(Unbound, match=lack):
        arrangements(parameters, block_roles())


@pytest.mark.parametrize("shape", [(1, E), (1, 1, E), (E, 1)], ids=str)
@pytest.mark.parametrize("heads", [H, E])
def test_numbers_of_norms_may_stand_in_a_row(shape, heads):
    wanted = [replace(role, heads=heads) for role in block_roles()]
    starts = {"gamma1": "ones", "beta1": "zeros", "gamma2": "ones", "beta2": "zeros"}
    rows = [
        ParameterInfo(path=path, shape=list(shape), owner="", start=start)
        for path, start in starts.items()
    ]

    first = arrangements([*ATTENTION, *linear("up", 11, E), *linear("down", E, 11), *rows], wanted)[
        0
    ]

    assert torch.equal(first.values["gamma2"], wanted[-1].weight.reshape(shape))
    assert torch.equal(first.values["beta2"], wanted[-1].bias.reshape(shape))


def test_numbered_matrices_keep_their_numbered_biases():
    bare = [of("W_1", (E, 11)), of("b_1", (11,)), of("W_2", (11, E)), of("b_2", (E,))]
    scales = [of("gamma1", (E,)), of("beta1", (E,)), of("gamma2", (E,)), of("beta2", (E,))]
    matrices = [of(f"{kind}_{name}", shape) for name in "qkvo" for kind, shape in SQUARE.items()]
    wanted = {role.name: role for role in block_roles()}

    first = arrangements([*matrices, *bare, *scales], block_roles())[0]

    assert first.unbound == ()
    for name, number in (("ffn1", 1), ("ffn2", 2)):
        assert torch.equal(first.values[f"W_{number}"], wanted[name].weight.T)
        assert torch.equal(first.values[f"b_{number}"], wanted[name].bias)
    assert torch.equal(first.values["gamma2"], wanted["norm2"].weight)
    assert torch.equal(first.values["beta2"], wanted["norm2"].bias)


def two_attentions():
    """The roles of a decoder's two attentions: of the same names and shapes, apart by group."""
    generator = torch.Generator().manual_seed(7)
    return [
        RoleWeights(
            name,
            torch.randn(E, E, generator=generator),
            torch.randn(E, generator=generator),
            H,
            "in" if name == "out" else "out",
            group=group,
        )
        for group in ("self", "cross")
        for name in NAMES
    ]


def first_with_two_attentions(parameters):
    wanted = {role.id: role for role in two_attentions()}
    return arrangements(parameters, two_attentions())[0], wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("self_attn", "src_attn"),
        ("attention1", "attention2"),
        ("masked_mha", "enc_dec"),
        ("self_attn", "multihead_attn"),
        ("sa", "ca"),
        ("attns.0", "attns.1"),
    ],
    ids=lambda path: path,
)
@pytest.mark.parametrize("names", [NAMES, ("0", "1", "2", "3")], ids=["named", "unnamed"])
def test_the_maps_of_two_attentions_go_to_their_groups(one, other, names):
    paths = [f"{module}.{name}" for module in (one, other) for name in names]

    first, wanted = first_with_two_attentions(linears(*paths))

    for path, role in zip(paths, wanted.values(), strict=True):
        assert torch.equal(first.values[f"{path}.weight"], role.weight)


@pytest.mark.parametrize(
    ("cross", "own", "names"),
    [
        ("src_attn", "self_attn", NAMES),
        ("src_attn", "self_attn", ("0", "1", "2", "3")),
        ("crossAttention", "sequence_attention", NAMES),
        ("unmasked", "masked", NAMES),
        ("unMaskedAttn", "causalAttn", NAMES),
        ("un_masked", "decSelf", NAMES),
    ],
)
def test_words_on_the_path_decide_against_the_order_of_definition(cross, own, names):
    paths = [f"{module}.{name}" for module in (cross, own) for name in names]

    first, wanted = first_with_two_attentions(linears(*paths))

    for name, role in zip(names, NAMES, strict=True):
        assert torch.equal(first.values[f"{cross}.{name}.weight"], wanted[f"cross_{role}"].weight)
        assert torch.equal(first.values[f"{own}.{name}.weight"], wanted[f"self_{role}"].weight)


def test_the_lists_of_heads_of_two_attentions_stay_apart():
    paths = [
        f"{module}.heads.{head}.{name}"
        for module in ("sa", "ca")
        for head in range(H)
        for name in ("key", "query", "value")
    ]
    maps = [parameter for path in paths for parameter in linear(path, D)]

    first, wanted = first_with_two_attentions([*maps, *linears("sa.proj", "ca.proj")])

    for module, group in (("sa", "self"), ("ca", "cross")):
        rows = [first.values[f"{module}.heads.{head}.key.weight"] for head in range(H)]
        assert torch.equal(torch.cat(rows), wanted[f"{group}_k"].weight)
        assert torch.equal(first.values[f"{module}.proj.weight"], wanted[f"{group}_out"].weight)


def test_a_fused_key_value_map_goes_to_the_attention_that_is_still_open():
    parameters = [
        *linear("qkv", 3 * E), *linear("proj"), *linear("q"), *linear("kv", 2 * E), *linear("proj2")
    ]  # fmt: skip

    first, wanted = first_with_two_attentions(parameters)

    for path, ids in {
        "qkv": ("self_q", "self_k", "self_v"),
        "proj": ("self_out",),
        "q": ("cross_q",),
        "kv": ("cross_k", "cross_v"),
        "proj2": ("cross_out",),
    }.items():
        weights = torch.cat([wanted[name].weight for name in ids])
        assert torch.equal(first.values[f"{path}.weight"], weights)


@pytest.mark.parametrize("paths", [("gate_up_proj", "down_proj"), ("net.0", "net.2")])
def test_gate_and_up_may_be_one_map_whose_halves_are_tried_in_either_order(paths):
    gate, up, down = wanted = [role("gate", 5, E), role("up", 5, E), role("down", E, 5)]
    fused, last = paths

    found = arrangements([*linear(fused, 10, bias=False), *linear(last, E, 5, bias=False)], wanted)

    for halves in ((gate, up), (up, gate)):
        whole = torch.cat([half.weight for half in halves])
        assert any(torch.equal(one.values[f"{fused}.weight"], whole) for one in found)
    assert all(torch.equal(one.values[f"{last}.weight"], down.weight) for one in found)


def test_a_table_called_a_bias_takes_no_bias_from_the_map_of_that_name():
    table = role("table", M, H, kind="table")

    first = arrangements(
        [of("key_bias", (M, H)), *linears("key", "query", "value", "out")], [*roles(), table]
    )[0]

    assert torch.equal(first.values["key_bias"], table.weight)
    assert torch.equal(first.values["key.bias"], WEIGHTS["k"].bias)


def test_unnamed_vectors_are_the_biases_of_the_matrices_in_order():
    parameters = [of(f"x{i}", (E, E) if i % 2 else (E,)) for i in range(1, 9)]

    first = arrangements(parameters, roles())[0]

    assert torch.equal(first.values["x1"], WEIGHTS["q"].weight.T)
    assert torch.equal(first.values["x2"], WEIGHTS["q"].bias)
    assert torch.equal(first.values["x8"], WEIGHTS["out"].bias)
    assert first.biased == set(NAMES)


def test_a_block_without_names_goes_by_order_shapes_and_starts():
    square = [of(f"zz{i}", (E, E)) for i in range(4)]
    wide = [of("p1", (E, 11)), of("p2", (11, E))]
    biases = [of(f"c{i}", (11 if i == 4 else E,)) for i in range(6)]
    norms = [
        ParameterInfo(path=f"t{i}", shape=[E], owner="", start="zeros" if i % 2 else "ones")
        for i in range(4)
    ]
    wanted = {role.name: role for role in block_roles()}

    first = arrangements([*square, *wide, *biases, *norms], block_roles())[0]

    assert first.unbound == ()
    assert torch.equal(first.values["zz2"], wanted["v"].weight.T)
    assert torch.equal(first.values["c3"], wanted["out"].bias)
    assert torch.equal(first.values["c4"], wanted["ffn1"].bias)
    assert torch.equal(first.values["t2"], wanted["norm2"].weight)
    assert torch.equal(first.values["t3"], wanted["norm2"].bias)


def test_a_list_named_after_a_fused_map_holds_its_parts():
    parameters = [of("W_o", (E, E)), *(of(f"W_qkv.{i}", (E, E)) for i in range(3))]

    first = arrangements(parameters, roles())[0]

    assert torch.equal(first.values["W_qkv.1"], WEIGHTS["k"].weight.T)
    assert torch.equal(first.values["W_o"], WEIGHTS["out"].weight.T)


def test_a_letter_that_happens_to_be_a_name_does_not_settle_the_others():
    parameters = linears("a", "b", "out", "d")

    tried = [one.values["out.weight"] for one in arrangements(parameters, roles())]

    assert torch.equal(tried[0], WEIGHTS["out"].weight)
    assert any(torch.equal(value, WEIGHTS["v"].weight) for value in tried)


def test_names_of_all_maps_settle_which_is_which():
    parameters = linears("v_proj", "q_proj", "k_proj", "out_proj")

    for arrangement in arrangements(parameters, roles()):
        assert torch.equal(arrangement.values["k_proj.weight"], WEIGHTS["k"].weight)


@pytest.mark.parametrize("path", ["zzz", "a1"])
def test_names_of_all_maps_but_one_settle_which_is_which(path):
    parameters = linears("q_proj", "k_proj", "v_proj", path)

    for arrangement in arrangements(parameters, roles()):
        assert torch.equal(arrangement.values["k_proj.weight"], WEIGHTS["k"].weight)
        assert torch.equal(arrangement.values[f"{path}.weight"], WEIGHTS["out"].weight)


@pytest.mark.parametrize("fields", [{"start": "twos"}, {"number": -1}, {"number": "0"}])
def test_what_a_worker_tells_of_a_parameter_is_validated(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        ParameterInfo(path="p", shape=[E], owner="", **fields)


@pytest.mark.parametrize(
    "paths",
    [
        ("ff.w1", "ff.w2", "ff.w3"),
        ("ff.W", "ff.V", "ff.W2"),
        ("ff.linear1", "ff.linear_v", "ff.linear2"),
    ],
)
def test_a_name_whose_role_does_not_fit_the_shape_says_nothing(paths):
    wide = 4 * E
    generator = torch.Generator().manual_seed(4)
    further = [
        RoleWeights(name, torch.randn(out, in_, generator=generator), torch.zeros(out), 1, "out")
        for name, out, in_ in (("gate", wide, E), ("up", wide, E), ("down", E, wide))
    ]
    feed_forward = [
        linear(path, role.weight.shape[0], role.weight.shape[1])
        for path, role in zip(paths, further, strict=True)
    ]
    parameters = [*itertools.chain(*feed_forward), *linears("w_q", "w_k", "w_v", "w_o")]

    first = arrangements(parameters, [*roles(), *further])[0]

    assert first.unbound == ()
    assert torch.equal(first.values["w_v.weight"], WEIGHTS["v"].weight)
    assert first.values[f"{paths[2]}.weight"].shape == (E, wide)


Q, R = 8, 2  # width of the latent of the queries, rotary features of a head


def rotary_roles(query=Q):
    return [
        role("q_down", query, E),
        role("q", E, query, heads=H),
        role("q_rope", H * R, query, heads=H),
        role("down", C, E),
        role("k_rope", R, E),
        role("k", E, C, heads=H),
        role("v", E, C, heads=H),
        role("out", E, E, heads=H, split="in"),
    ]


def rotary_maps(query=Q):
    return [
        *linear("squeeze_q", query, E),
        *linear("grow_q", E + H * R, query),
        *linear("squeeze", C + R, E),
        *linear("grow", 2 * E, C),
        *linear("mix"),
    ]


def test_several_fused_maps_without_names_may_have_a_layout_each():
    wanted = {role.name: role for role in rotary_roles()}
    heads = [wanted[name].weight.reshape(H, -1, Q) for name in ("q", "q_rope")]
    expected = {
        "squeeze.weight": torch.cat([wanted[name].weight for name in ("down", "k_rope")]),
        "grow.weight": torch.cat([wanted[name].weight for name in ("k", "v")]),  # part by part
        "grow_q.weight": torch.cat(heads, 1).reshape(-1, Q),  # head by head
    }

    found = arrangements(rotary_maps(), list(wanted.values()))

    assert any(
        all(torch.equal(one.values[path], value) for path, value in expected.items())
        for one in found
    )


def test_a_map_keeps_its_role_at_sizes_where_neither_shape_nor_name_tells():
    def maps(query):
        rest = [*linear("kv.first", C, E), *linear("shared", R, E), *linear("kv.second", 2 * E, C)]
        return [*rest, *linear("q.0", query, E), *linear("q.1", E + H * R, query), *linear("mix")]

    key = arrangements(maps(Q), rotary_roles())[0].key
    wanted = rotary_roles(C)  # now q.0 is as large as kv.first

    found = weights.nearest(weights.arrangements(maps(C), wanted, WORDS, key), key)

    assert torch.equal(found.values["q.0.weight"], wanted[0].weight)
    assert torch.equal(found.values["kv.first.weight"], wanted[3].weight)
