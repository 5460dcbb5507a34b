"""A packet as one page, for paper and for screens of any size."""

from __future__ import annotations

from typing import get_args

from mha_judge.packet.models import Packet, Recommendation
from mha_judge.render.page import page
from mha_judge.render.score.candidates import file_name


def render(packet: Packet) -> str:
    """Return a page that needs nothing beside it."""
    asked = {
        f"{answer.problem}: {one.question}"
        for answer in packet.answers
        for group in ("mistakes", "near_misses", "general")
        for one in getattr(answer.questions, group)
    }
    named = {dimension.name for dimension in packet.dimensions}
    return page(
        "mha_judge.render.packet",
        "packet.html",
        packet=packet,
        recommendations=get_args(Recommendation),
        further=[key for key in packet.interviewer.notes if key not in asked | named],
        stem=file_name(packet.candidate, ""),
    )
