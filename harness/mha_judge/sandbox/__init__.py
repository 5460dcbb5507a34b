"""Where submissions run: the contract of a backend, and one module for each backend."""

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
