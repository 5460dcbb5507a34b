"""What is known to be harmless in an answer's file."""

from __future__ import annotations

import ast
import math

import torch

MODULES = frozenset({"torch", "torch.nn", "torch.nn.functional", "math"})
TYPING = frozenset({"typing", "collections.abc", "__future__"})
HINTS = frozenset((
    "Any Callable Dict Final Iterable Iterator List Literal Mapping Optional Sequence Tuple Union "
    "annotations"
).split())  # fmt: skip
TYPES = frozenset({"bool", "float", "int", "list", "str", "tuple", "torch.Tensor"})
BUILTINS = frozenset((
    "abs all any bool divmod enumerate float int isinstance len list max min pow range reversed "
    "round slice sum tuple zip"
).split())  # fmt: skip
EXCEPTIONS = frozenset((
    "AssertionError IndexError NotImplementedError RuntimeError TypeError ValueError"
).split())  # fmt: skip
ITERATORS = frozenset({"enumerate", "reversed", "zip"})
"""Functions whose results are used up."""
OF_LAYOUT = frozenset({"contiguous", "view", "view_as"})
"""Methods and functions that depend on where numbers lie in memory."""
OF_TENSORS = OF_LAYOUT | frozenset((
    "abs add addmm all amax amin any argmax argmin argsort baddbmm bmm broadcast_to ceil chunk "
    "clamp clamp_max clamp_min clip clone cos cumprod cumsum detach diag_embed diagonal div dot eq "
    "erf exp exp2 expm1 flatten flip floor gather ge gt index_select is_floating_point isfinite "
    "isinf isnan le log log1p log_softmax logical_and logical_not logical_or logsumexp lt "
    "masked_fill matmul max maximum mean min minimum mm movedim mul narrow ne neg numel outer "
    "permute pow prod relu repeat_interleave reshape roll round rsqrt scatter select sigmoid sign "
    "sin softmax split sqrt square squeeze std sub sum swapaxes swapdims t tanh tile topk "
    "transpose tril triu true_divide unbind unflatten unsqueeze var where"
).split())  # fmt: skip
"""What torch has as functions and as methods."""
METHODS = OF_TENSORS | frozenset((
    "bfloat16 bit_length bool dim double expand expand_as float half int item items "
    "keys long new_full new_ones new_tensor new_zeros norm repeat size to tolist type_as values"
).split())  # fmt: skip
"""Methods of tensors, numbers and dicts."""
OF_PARAMETERS = frozenset({"empty", "eye", "ones", "rand", "randn", "zeros"})
"""Functions that may fill parameters, whose numbers the judge sets."""
LAYERS = frozenset((
    "Dropout GELU Identity LayerNorm Linear RMSNorm ReLU Sequential SiLU Softmax"
).split())  # fmt: skip
FUNCTIONS = {
    "torch": OF_TENSORS | frozenset((
        "arange block_diag broadcast_shapes broadcast_tensors cat concat einsum eye finfo full "
        "full_like get_default_dtype is_tensor linspace logspace meshgrid ones ones_like "
        "promote_types stack tensor tril_indices triu_indices zeros zeros_like"
    ).split()),
    "torch.nn.functional": frozenset((
        "dropout elu gelu layer_norm linear log_softmax logsigmoid one_hot pad relu sigmoid silu "
        "softmax softplus tanh"
    ).split()),
    "torch.nn": LAYERS | {"Module", "Parameter"},
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
}  # fmt: skip
"""By module, what may be called."""
ATTRIBUTES = frozenset("T bias device dtype indices itemsize mT ndim shape values weight".split())
VALUES = {
    "math": frozenset({"e", "inf", "nan", "pi", "tau"}),
    "torch": frozenset((
        "bfloat16 bool double e float float16 float32 float64 half inf int int16 int32 int64 int8 "
        "long nan pi uint8"
    ).split()),
}  # fmt: skip
"""By module, the numbers and dtypes that it has."""
OF_DICTS = frozenset({"items", "keys", "values"})
OF_FINFO = frozenset({"eps", "max", "min", "tiny"})
MOST_GIVEN = {
    "dropout": 3, "Dropout": 1, "Parameter": 1,
    "relu": 1, "silu": 1, "elu": 2, "ReLU": 0, "SiLU": 0,
}  # fmt: skip
"""Arguments without names that some functions may have: a further one asks for work in place, or
for a parameter that does not learn."""
KEYWORDS = frozenset((
    "alpha approximate beta bias correction descending device diagonal dim dim0 dim1 dims dtype "
    "elementwise_affine end end_dim eps fill_value indexing input keepdim largest max min mode "
    "normalized_shape num_classes offset ord other p pad repeats shifts size sizes sorted stable "
    "start start_dim steps training unbiased value weight"
).split())  # fmt: skip
SPECIAL = frozenset({"__init__", "__name__", "__future__"})
"""Names with two underscores that do no harm: Python knows such names, and renames others."""
OF_MODULE = frozenset(dir(torch.nn.Module()))
COMPARED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
"""Comparisons of values."""
