"""Where submissions run: the contract, and one module a backend."""

from mha_judge.sandbox.base import Channel, Ended, Reply, Sandbox, Tier
from mha_judge.sandbox.choose import BACKENDS, open_channel

__all__ = ["BACKENDS", "Channel", "Ended", "Reply", "Sandbox", "Tier", "open_channel"]
