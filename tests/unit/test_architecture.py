"""The arrows of ARCHITECTURE.md: which room may import which, and who never sees torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lexigraft

PACKAGE = Path(lexigraft.__file__).parent
ABOVE = {
    "core": set(),
    "data": {"core"},
    "vocab": {"core", "data"},
    "model": {"core", "vocab"},
    "train": {"core", "data", "vocab", "model"},
    "vectors": {"core", "data", "vocab"},
    "index": {"core", "vectors"},
    "search": {"core", "index", "vectors"},
    "expand": {"core", "data", "vectors", "index", "search"},
    "evaluate": {"core", "index", "search", "vectors"},
    "explain": {"core", "vectors", "index", "search", "evaluate"},
    "pipeline": {
        "core",
        "data",
        "vocab",
        "model",
        "train",
        "vectors",
        "index",
        "search",
        "expand",
        "evaluate",
        "explain",
    },
}
ABOVE["cli"] = ABOVE["pipeline"] | {"pipeline"}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports_of(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def test_every_room_is_in_the_plan():
    assert {path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))} == set(ABOVE)


@pytest.mark.parametrize("file", [f for f in FILES if f.parent != PACKAGE], ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_one_way(file):
    room = file.relative_to(PACKAGE).parts[0]
    rooms = {name.split(".")[1] for name in imports_of(file) if name.startswith("lexigraft.")}
    allowed = ABOVE[room] | {room} | ({"model"} if file.name == "encode.py" else set())
    assert rooms - {"__version__"} <= allowed


@pytest.mark.parametrize("room", ["index", "search", "evaluate", "explain"])
def test_no_torch_at_search_time(room):
    for file in (PACKAGE / room).rglob("*.py"):
        assert not any(name.partition(".")[0] in ("torch", "transformers") for name in imports_of(file))


def test_only_generating_text_needs_torch_for_expansion():
    needs = {
        file.name
        for file in (PACKAGE / "expand").glob("*.py")
        if any(name.partition(".")[0] in ("torch", "transformers") for name in imports_of(file))
    }
    assert needs == {"generate.py"}
    code = "import sys, lexigraft.expand.generate; print('torch' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_help_needs_no_heavy_import():
    code = "import sys, lexigraft.cli.app; print([m for m in ('numba', 'matplotlib', 'torch') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_every_module_says_its_purpose():
    for file in FILES:
        assert ast.get_docstring(ast.parse(file.read_text())), file
