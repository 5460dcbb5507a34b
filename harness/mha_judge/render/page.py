"""Pages and files from templates: nothing undefined passes in silence."""

from __future__ import annotations

import shlex
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def page(package: str, template: str, **values: Any) -> str:
    """Return a template of a package's folder `templates`, filled in and escaped for HTML."""
    return _environment(package, html=True).get_template(template).render(**values)


def script(package: str, template: str, **values: Any) -> str:
    """Return a template of a file that no browser reads; `| quote` makes a word of a shell."""
    environment = _environment(package, html=False)
    environment.filters["quote"] = shlex.quote
    return environment.get_template(template).render(**values)


def _environment(package: str, *, html: bool) -> Environment:
    return Environment(
        loader=PackageLoader(package),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not html,
    )
