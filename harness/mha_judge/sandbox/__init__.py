"""Where submissions run: the contract, and one module a backend."""

from mha_judge.sandbox.base import Channel, Ended, Reply, Sandbox, Tier
from mha_judge.sandbox.container import Settings
from mha_judge.sandbox.options import BACKENDS, DEVICES, SandboxOptions

__all__ = [
    "BACKENDS",
    "DEVICES",
    "Channel",
    "Ended",
    "Reply",
    "Sandbox",
    "SandboxOptions",
    "Settings",
    "Tier",
]
