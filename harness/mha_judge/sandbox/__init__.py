"""Where submissions run: the contract, and one module a backend."""

from mha_judge.sandbox.base import Channel, Ended, Reply, Sandbox, Tier
from mha_judge.sandbox.choose import BACKENDS, check_choice, open_channel
from mha_judge.sandbox.container import Settings

__all__ = [
    "BACKENDS",
    "Channel",
    "Ended",
    "Reply",
    "Sandbox",
    "Settings",
    "Tier",
    "check_choice",
    "open_channel",
]
