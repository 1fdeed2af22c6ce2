"""The arrows of ARCHITECTURE.md: which room may import which, no circle between files, and who never sees torch."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

import lexigraft

PACKAGE = Path(lexigraft.__file__).parent
# The rooms, from the ground up. A room imports only what is named here, which always stands above it in this list.
ROOMS = {
    "core": set(),
    "data": set(),
    "vocab": {"data"},
    "made_pairs": {"data", "vocab"},
    "inference": {"vocab"},
    "model": {"vocab", "inference"},
    "train": {"data", "vocab", "inference", "model"},
    "vectors": {"data", "vocab", "inference"},
    "grafted": {"data", "vectors"},
    "index": {"vectors", "grafted"},
    "search": {"index", "vectors"},
    "engines": {"vectors", "index", "search"},
    "dense": {"vocab", "inference", "model", "vectors", "search"},
    "expand": {"data", "vectors", "index", "search"},
    "measure": {"index", "search", "vectors"},
    "explain": {"vectors", "grafted", "index", "search", "measure"},
    "datasets": {"data", "vocab", "model"},
}
ROOMS["stages"] = set(ROOMS) - {"explain", "datasets"}
ROOMS["learn"] = ROOMS["stages"] | {"stages"}
ROOMS["shards"] = ROOMS["learn"] | {"learn"}
ROOMS["own_settings"] = ROOMS["learn"] | {"learn"}
ROOMS["retrieve"] = ROOMS["learn"] | {"explain", "learn"}
ROOMS["serve"] = ROOMS["retrieve"] | {"retrieve"}
ROOMS["comparison"] = ROOMS["retrieve"] | {"retrieve"}
ROOMS["export"] = ROOMS["retrieve"] | {"retrieve"}
ROOMS["integrations"] = ROOMS["export"] | {"export"}
ROOMS["plan"] = {"index", "retrieve", "stages"}
ROOMS["study"] = ROOMS["comparison"] | {"comparison", "own_settings", "whole_run"}
TOP = {
    "whole_run": set(ROOMS) - {"study", "plan", "export", "integrations"},
    "api": {*ROOMS, "whole_run"},
    "__main__": {"cli"},
    "__init__": set(),
}
ROOMS["cli"] = {*ROOMS, *TOP}
MODELS = ("torch", "transformers")
FILES = sorted(PACKAGE.rglob("*.py"))
LARGEST_SHARE = 0.12  # of the package's lines that one room may hold


@functools.cache
def imports_of(file: Path) -> set[str]:
    """Everything a file imports, inside functions too, but for what only the type checker sees."""
    found, tree = set(), ast.parse(file.read_text())
    for_types = {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inside in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_room_is_in_the_plan():
    assert {path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))} == set(ROOMS)
    assert {path.stem for path in PACKAGE.glob("*.py")} == set(TOP)


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_one_way(file):
    room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    imported = {name.split(".")[1] for name in imports_of(file) if name.startswith("lexigraft.")}
    allowed = {**ROOMS, **TOP}[room] | {room, "core", "__version__"}
    if file.relative_to(PACKAGE) == Path("vectors/open_network.py"):
        allowed.add("model")
    assert imported <= allowed


def test_no_circle_between_files():
    modules = {module_name(file): file for file in FILES}
    arrows = {}
    for name, file in modules.items():
        found = imports_of(file)
        arrows[name] = {module if module in modules else module.rpartition(".")[0] for module in found} & set(modules)
        arrows[name] -= {name}
    while leaves := {name for name, to in arrows.items() if not to}:
        arrows = {name: to - leaves for name, to in arrows.items() if name not in leaves}
    assert not arrows, f"these files import each other in a circle, or need one that does: {sorted(arrows)}"


def test_no_room_holds_more_than_its_share():
    lines = {room: sum(len(f.read_text().splitlines()) for f in (PACKAGE / room).rglob("*.py")) for room in ROOMS}
    room = max(lines, key=lambda name: lines[name])
    assert lines[room] <= LARGEST_SHARE * sum(lines.values()), (room, lines[room])


@pytest.mark.parametrize(
    "room", ["inference", "grafted", "index", "search", "engines", "dense", "measure", "explain", "serve"]
)
def test_no_torch_at_search_time(room):
    for file in (PACKAGE / room).rglob("*.py"):
        assert not any(name.partition(".")[0] in MODELS for name in imports_of(file))


def test_only_generating_text_needs_torch_for_expansion():
    needs = {
        file.name
        for file in (PACKAGE / "expand").glob("*.py")
        if any(name.partition(".")[0] in MODELS for name in imports_of(file))
    }
    assert needs == {"generate.py"}
    assert loaded_by("lexigraft.expand.generate", "torch") == []


def loaded_by(module: str, *heavy: str) -> list[str]:
    """Which of the `heavy` packages importing a module loads, in a process of its own."""
    code = f"import sys, {module}; print(*[name for name in {heavy!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("module", ["lexigraft", "lexigraft.cli.app"])
def test_what_is_seen_first_is_light(module):
    assert loaded_by(module, "numba", "matplotlib", "torch", "scipy") == []


def test_every_module_says_its_purpose():
    for file in FILES:
        assert ast.get_docstring(ast.parse(file.read_text())), file
