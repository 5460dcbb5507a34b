"""A certification as one page: the kill matrix of every problem, coloured."""

from __future__ import annotations

from mha_judge.certify.models import Certification
from mha_judge.render.page import page


def render(certification: Certification) -> str:
    """Return a page that needs nothing beside it."""
    return page("mha_judge.render.verify", "certification.html", certification=certification)
