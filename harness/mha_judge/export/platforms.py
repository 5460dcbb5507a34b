"""The platforms by their names."""

from __future__ import annotations

from collections.abc import Mapping

from mha_judge.export import classroom50, github_action, gradescope, harbor, prairielearn
from mha_judge.export.platform import Platform

PLATFORMS: Mapping[str, Platform] = {
    "harbor": harbor,
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "classroom50": classroom50,
    "github-action": github_action,
}
