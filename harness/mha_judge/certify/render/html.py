"""A certification as one page: the kill matrix of every problem, coloured."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from mha_judge.certify.models import Certification


def render(certification: Certification) -> str:
    """Return a page that needs nothing beside it."""
    environment = Environment(
        loader=PackageLoader("mha_judge.certify.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("certification.html").render(certification=certification)
