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


def test_every_module_of_the_plan_exists():
    plan = (ROOT / "ARCHITECTURE.md").read_text().split("`index/`, `search/`")[0]
    rows = re.findall(r"^\| `(\w+)/` \| (.+) \| .+ \|$", plan, re.MULTILINE)
    assert len(rows) == 13
    for room, text in rows[:-1]:
        described = set(re.findall(r"`(\w+)`", text))
        present = {file.stem for file in (ROOT / "src/lexigraft" / room).glob("*.py")} - {"__init__"}
        assert described == present, room
