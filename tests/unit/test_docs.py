"""What the documents say of the program is so."""

import re
from dataclasses import fields
from pathlib import Path

from lexigraft.core.settings import Settings, section_names
from lexigraft.core.settings.reference import markdown

ROOT = Path(__file__).parents[2]


def test_every_setting_is_documented_and_every_documented_one_exists():
    table = (ROOT / "docs/settings.md").read_text()
    documented = set(re.findall(r"`([a-z]+\.[a-z0-9_]+)`", table))
    existing = {f"{name}.{f.name}" for name in section_names() for f in fields(getattr(Settings(), name))}
    assert documented == existing


def test_the_reference_of_settings_is_the_one_that_is_made_from_them():
    made = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    assert made == markdown(), "docs/settings.md is old: make reference"
