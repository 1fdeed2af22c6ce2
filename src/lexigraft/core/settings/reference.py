"""Writes docs/settings.md from the declarations: `python -m lexigraft.core.settings.reference > docs/settings.md`."""

import sys
from collections.abc import Iterator

from lexigraft.core.settings.declaration import PAIRS, Setting
from lexigraft.core.settings.every import SECTIONS
from lexigraft.core.settings.section import Section, declared

HEADER = """\
<!-- Made from src/lexigraft/core/settings by `make reference`; a test holds the two together. -->

# Settings

Given in a TOML file (`--config`) as `[section]` and `key = value`, or one at a time as `--set section.key=value`. A
recipe (`--recipe NAME`, one of `lexigraft recipe list`, or a TOML file of your own) is a whole set of them: it comes
before the file, and the file before `--set`. A value that is not allowed ends the command, with a line that says what
is.

A run has any number of systems. Each table `[systems.NAME]` is one more, with a recipe, settings or both; what it does
not say is the run's. On the command line: `--set systems.NAME.section.key=value`.

```toml
[systems.unicoil]
recipe = "csv-unicoil-small"

[systems.small]
model.layers = 2
finetune.steps = 100

[systems.long]
kind = "bm25"
lexical.b = 0.9

[systems.peer]
kind = "dense"
dense.learning_rate = 5e-5

[systems.both]
kind = "hybrid"
of = ["small", "peer"]
```

A system is a model, which may say all of `vocab`, `model`, `backbone`, `mlm`, `pretrain`, `teacher`, `tilde`,
`finetune` and `prune`, and the seed of `run`; or, with `kind = "bm25"`, BM25, which may say all of `lexical` and
`prune`; or, with `kind = "dense"`, a bi-encoder, which may say all of `model`, `backbone`, `mlm`, `finetune` and
`dense`, and the seed; or, with `kind = "hybrid"`, two of those fused, which may say all of `hybrid`. The collection,
indexes and what is measured are the run's, so that its systems can be compared.
"""
COLUMNS = "| setting | default | allowed | meaning |\n|---|---|---|---|\n"


def markdown() -> str:
    """The whole of docs/settings.md."""
    return HEADER + "".join(_section_lines(name, section) for name, section in SECTIONS.items())


def _section_lines(name: str, section: type[Section]) -> str:
    about = " ".join((section.__doc__ or "").split())
    return f"\n## {name}\n\n{about}\n\n{COLUMNS}" + "".join(map(_row, declared(section).values()))


def _row(setting: Setting) -> str:
    cells = (f"`{setting.name}`", f"`{setting.default_text}`", _allowed(setting), " ".join(_meaning(setting)))
    return f"| {' | '.join(cells)} |\n"


def _allowed(setting: Setting) -> str:
    if setting.said.one_of or setting.said.some_of:
        return setting.range
    limits = "" if setting.type == PAIRS else setting.range
    return ", ".join(part for part in (setting.kind, limits) if part)


def _meaning(setting: Setting) -> Iterator[str]:
    special = "".join(f"; {_value(value)}: {meaning}" for value, meaning in setting.special_values)
    yield setting.said.meaning + special + ("." if setting.said.more else "")
    if setting.said.more:
        yield setting.said.more


def _value(value: str) -> str:
    return value if value == "empty" else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(markdown())
