"""A parameter's path says which map it belongs to, in the names that people use."""

import pytest

from mha_judge.bank import Bank
from mha_judge.grading.binding.roles import fold, heads_index, is_bias, map_path, role_of

WORDS = Bank.builtin().vocabulary()


@pytest.mark.parametrize(
    ("role", "paths"),
    [
        ("q", "q_proj.weight W_q.weight w_q wq.weight query.weight W_query.weight fc_q.weight "
              "to_q.weight queries.weight Wq q_linear.weight linear_q.weight query_projection "
              "heads.0.query.weight w_qs.weight W_Q.weight q.weight qProj.weight mha.q_proj.weight "
              "query.linear.weight c_q.weight self.query.weight"),
        ("k", "k_proj.weight key.weight W_k keys.weight heads.1.key.weight to_k.weight fc_k.bias"),
        ("v", "v_proj.weight value.weight W_v values.0 W_value.weight w_vs.weight fc_v.bias"),
        ("out", "out_proj.weight W_o.weight wo fc_out.weight w_concat.weight to_out.0.weight "
                "unifyheads.weight proj.weight c_proj.weight fc.weight dense.weight output.weight "
                "out.weight linear_out.weight o_proj.bias fc_o.weight combine.weight"),
        ("qkv", "qkv.weight in_proj_weight to_qkv.weight c_attn.weight qkv_proj.weight Wqkv "
                "query_key_value.weight in_proj_bias"),
        ("kv", "kv.weight to_kv.weight kv_proj.weight W_kv"),
        (None, "linears.0.weight weight layers.2.weight norm.weight a.weight 0.weight scale "
               "gamma foo.bar"),
    ],
    ids=str,
)  # fmt: skip
def test_usual_names_have_their_role(role, paths):
    assert {path: role_of(path, WORDS) for path in paths.split()} == dict.fromkeys(
        paths.split(), role
    )


def test_queries_inside_an_attention_module_are_not_its_output():
    assert role_of("out.query.weight", WORDS) == "q"


@pytest.mark.parametrize("path", ["attn.q_proj.weight", "attn.query.weight"])
def test_queries_inside_a_module_called_attn_are_not_fused(path):
    assert role_of(path, WORDS) == "q"


@pytest.mark.parametrize(
    "path", ["q_proj.bias", "b_q", "bq", "bias", "b", "in_proj_bias", "heads.0.bias"]
)
def test_names_of_biases_are_known(path):
    assert is_bias(path)


@pytest.mark.parametrize("path", ["q_proj.weight", "W_q", "bias.weight", "base", "w_b"])
def test_names_of_weights_are_not_taken_for_biases(path):
    assert not is_bias(path)


@pytest.mark.parametrize(
    ("weight", "bias"),
    [
        ("q_proj.weight", "q_proj.bias"), ("in_proj_weight", "in_proj_bias"), ("W_q", "b_q"),
        ("wq", "bq"), ("w_q", "b_q"), ("heads.0.q.weight", "heads.0.q.bias"), ("a.W_o", "a.b_o"),
        ("W_1", "b_1"), ("ffn.w2", "ffn.b2"), ("ffn.weight_1", "ffn.bias_1"),
    ],
)  # fmt: skip
def test_weight_and_bias_belong_to_one_map(weight, bias):
    assert map_path(weight) == map_path(bias)


def test_the_maps_of_a_module_stay_apart():
    paths = (
        "W_q W_k W_v W_o heads.0.q.weight heads.1.q.weight linears.0.weight in_proj_weight weight "
        "W_1 W_2 ffn.w1 ffn.w2"
    )

    assert len({map_path(path) for path in paths.split()}) == len(paths.split())


def test_numbers_in_a_path_order_the_maps_of_a_list():
    for path in ("heads.{}.q.weight", "W.q_{}", "q{}.weight"):
        paths = [path.format(number) for number in (10, 2, 0)]

        assert sorted(paths, key=heads_index) == paths[::-1]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("W_q", "w_q"), ("β", "beta"), ("Γ", "gamma"), ("𝛽", "beta"), ("ς", "sigma"),
        ("ά", "alpha"), ("Wᵏ", "wk"), ("W₀", "w0"), ("Ｗ_Ｑ", "w_q"), ("W_ϕ", "w_phi"),
        ("平移", "shift"), ("查询投影", "queryproj"), ("甲", "甲"),
    ],
)  # fmt: skip
def test_names_are_folded_to_plain_letters(name, plain):
    assert fold(name) == plain


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("查询", "q"),
        ("键投影.weight", "k"),
        ("W_值", "v"),
        ("输出", "out"),
        ("Wᵛ", "v"),
        ("ς", None),
    ],
)
def test_names_in_other_scripts_have_their_role(path, role):
    assert role_of(path, WORDS) == role


def test_weight_and_bias_of_a_chinese_name_belong_to_one_map():
    assert map_path("查询权重") == map_path("查询偏置")
