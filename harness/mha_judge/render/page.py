"""Pages from templates: escaped by default, and nothing undefined passes in silence."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def page(package: str, template: str, **values: Any) -> str:
    """Return a template of a package's folder `templates`, filled in."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)
