"""A packet as one page, for paper and for screens of any size."""

from __future__ import annotations

from mha_judge.packet.models import Packet
from mha_judge.render.page import page


def render(packet: Packet) -> str:
    """Return a page that needs nothing beside it."""
    return page("mha_judge.render.packet", "packet.html", packet=packet)
