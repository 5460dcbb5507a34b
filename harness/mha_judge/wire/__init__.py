"""Frames and values: the only language that judge, supervisor and worker share.

Nothing here trusts its peer: a size is checked before memory is taken, a tree is bounded in
depth and nodes, and tensors travel as safetensors, never as pickles.
"""

from mha_judge.wire.frames import (
    PREFIX,
    PROTOCOL,
    FrameReader,
    WireError,
    encode_frame,
    read_frame,
    widen,
)
from mha_judge.wire.trees import map_tree
from mha_judge.wire.values import Kept, Opaque, pack, unpack

__all__ = [
    "PREFIX",
    "PROTOCOL",
    "FrameReader",
    "Kept",
    "Opaque",
    "WireError",
    "encode_frame",
    "map_tree",
    "pack",
    "read_frame",
    "unpack",
    "widen",
]
