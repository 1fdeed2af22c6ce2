"""What the documents say of the program is so."""

import re
from dataclasses import fields
from pathlib import Path

from lexigraft.core.settings import Settings

ROOT = Path(__file__).parents[2]


def test_every_setting_is_documented_and_every_documented_one_exists():
    table = (ROOT / "docs/settings.md").read_text()
    documented = set(re.findall(r"`([a-z]+\.[a-z0-9_]+)`", table))
    existing = {
        f"{section.name}.{f.name}" for section in fields(Settings) for f in fields(getattr(Settings(), section.name))
    }
    assert documented == existing


def test_links_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", document.read_text()):
            assert (document.parent / target).exists(), (document.name, target)
