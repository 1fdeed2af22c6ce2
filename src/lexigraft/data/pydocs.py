"""`pydocs`, the collection every machine already has: its Python documentation.

Two views of the docstrings of the standard library and the installed packages:
- *judged*, to train and measure on: the query is a docstring's first sentence, its one relevant document the name in
  words and the rest of the docstring, from which that sentence was removed. It is made of packages that are named
  (`judged_packages`), so that its numbers do not depend on what else is installed;
- *full*, what a person searches: every documented object of every installed package, summary included.

Docstrings are copied between siblings, so the judged view keeps one object per normalised summary and per body, and
whole packages go to train, dev or test.
"""

import hashlib
import importlib.metadata
import os
import platform
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import Distribution
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.docstrings import DocumentedObject, documented_objects, name_words
from lexigraft.data.judged_packages import PYTHON, judged_packages

MIN_SUMMARY_WORDS, MAX_SUMMARY_WORDS, MIN_BODY_WORDS = 3, 40, 8
TEST_SHARE, DEV_SHARE, LARGEST_HELD_OUT_SHARE = 0.12, 0.05, 0.06
_NOT_DOCUMENTATION = {
    "test",
    "tests",
    "testing",
    "_vendor",
    "_vendored",
    "__pycache__",
    "site-packages",
    "dist-packages",
    "turtledemo",
}


class SourceFile(NamedTuple):
    path: Path
    module: str

    @property
    def package(self) -> str:
        """The top-level name."""
        return self.module.partition(".")[0]


class SourceFiles(NamedTuple):
    """The files that the judged view is made of, and the others that the full view has beside them."""

    judged: list[SourceFile]
    others: list[SourceFile]


class JudgedView(NamedTuple):
    documents: list[Document]
    queries: list[Query]
    qrels: dict[str, list[Qrel]]
    dropped: dict[str, int]


def installed_packages() -> dict[str, str]:
    """Name and version of Python and every installed distribution: what the full view depends on."""
    found = {dist.name: dist.version for dist in importlib.metadata.distributions() if dist.name}
    return {PYTHON: platform.python_version(), **dict(sorted(found.items()))}


def source_files(packages: Sequence[str] = ()) -> SourceFiles:
    """The Python files of the standard library and of installed distributions, sorted by module name.

    `packages` limits both views to those top-level names; an unknown one raises.
    """
    named = _by_module(chain(_standard_library_files(), _distribution_files(judged_packages().present.values())))
    everything = _by_module(chain(named.values(), _distribution_files(importlib.metadata.distributions())))
    if packages:
        present = {module.partition(".")[0] for module in everything}
        if unknown := sorted(set(packages) - present):
            remedy = "install it or leave it out"
            raise InputError(f"data.packages: no Python source found for {', '.join(unknown)}; {remedy}")
        return SourceFiles(_sorted(file for file in everything.values() if file.package in packages), [])
    return SourceFiles(
        _sorted(named.values()), _sorted(file for module, file in everything.items() if module not in named)
    )


def _by_module(files: Iterable[SourceFile]) -> dict[str, SourceFile]:
    """The first file of every module."""
    found: dict[str, SourceFile] = {}
    for file in files:
        found.setdefault(file.module, file)
    return found


def _sorted(files: Iterable[SourceFile]) -> list[SourceFile]:
    return sorted(files, key=lambda file: file.module)


def _standard_library_files() -> Iterator[SourceFile]:
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        if relative.parts[0].removesuffix(".py") in sys.stdlib_module_names and _is_documentation(relative.parts):
            yield SourceFile(path, _module_name(relative.parts))


def _distribution_files(distributions: Iterable[Distribution]) -> Iterator[SourceFile]:
    for dist in distributions:
        for file in dist.files or ():
            if file.suffix == ".py" and ".." not in file.parts and _is_documentation(file.parts):
                path = Path(str(dist.locate_file(file)))
                if path.is_file():  # not so where a checkout was built: its list names files from another root
                    yield SourceFile(path, _module_name(file.parts))


def _is_documentation(parts: Sequence[str]) -> bool:
    names = [part.removesuffix(".py") for part in parts]
    return not _NOT_DOCUMENTATION.intersection(names) and all(name.isidentifier() for name in names)


def _module_name(parts: Sequence[str]) -> str:
    names = [part.removesuffix(".py") for part in parts]
    return ".".join(names[:-1] if names[-1] == "__init__" and len(names) > 1 else names)


def read_objects(
    files: Sequence[SourceFile], processes: int = 0, progress: Progress = SILENT
) -> list[DocumentedObject]:
    """Every documented object of `files`, one per qualified name, sorted by it; parsed on several cores."""
    n_processes = min(processes or os.cpu_count() or 1, max(1, len(files) // 50))
    if n_processes == 1:
        found: Iterable[list[DocumentedObject]] = progress.track(
            map(_objects_of, files), "reading Python source", len(files)
        )
        objects = list(chain.from_iterable(found))
    else:
        with ProcessPoolExecutor(n_processes) as pool:
            found = progress.track(pool.map(_objects_of, files, chunksize=20), "reading Python source", len(files))
            objects = list(chain.from_iterable(found))
    return distinct_objects(objects)


def distinct_objects(objects: Iterable[DocumentedObject]) -> list[DocumentedObject]:
    """The first object of every qualified name, sorted by it."""
    unique: dict[str, DocumentedObject] = {}
    for item in objects:
        unique.setdefault(item.qualified_name, item)
    return sorted(unique.values())


def _objects_of(file: SourceFile) -> list[DocumentedObject]:
    return documented_objects(file.path, file.module)


def full_view(objects: Iterable[DocumentedObject]) -> Iterator[Document]:
    """Every object: its summary as the title, the name in words and the rest of the docstring as the text."""
    for item in objects:
        yield Document(item.qualified_name, item.summary, f"{name_words(item.qualified_name)}\n{item.body}".strip())


def judged_view(objects: Iterable[DocumentedObject]) -> JudgedView:
    """Query and document pairs without duplicates, split by package; what was dropped is counted by reason."""
    dropped: Counter[str] = Counter()
    pairs = list(_distinct_pairs(objects, dropped))
    split_of = split_packages(Counter(item.package for item in pairs))
    qrels: dict[str, list[Qrel]] = {"train": [], "dev": [], "test": []}
    for item in pairs:
        qrels[split_of[item.package]].append(Qrel(item.qualified_name, item.qualified_name, 1))
    documents = [Document(item.qualified_name, "", f"{name_words(item.qualified_name)}\n{item.body}") for item in pairs]
    queries = [Query(item.qualified_name, item.summary) for item in pairs]
    return JudgedView(documents, queries, qrels, dict(sorted(dropped.items())))


def _distinct_pairs(objects: Iterable[DocumentedObject], dropped: Counter[str]) -> Iterator[DocumentedObject]:
    seen_summaries: set[str] = set()
    seen_bodies: set[str] = set()
    for item in objects:
        summary, body = _normalised(item.summary), _normalised(item.body)
        if not MIN_SUMMARY_WORDS <= len(summary.split()) <= MAX_SUMMARY_WORDS:
            dropped["summary too short or too long"] += 1
        elif len(body.split()) < MIN_BODY_WORDS:
            dropped["body too short"] += 1
        elif summary in seen_summaries:
            dropped["summary seen before"] += 1
        elif body in seen_bodies:
            dropped["body seen before"] += 1
        else:
            seen_summaries.add(summary)
            seen_bodies.add(body)
            yield item


def _normalised(text: str) -> str:
    """Letters and words alone, numbers blanked: "Conv2d layer." and "conv1d  layer" are the same docstring."""
    return " ".join(re.sub(r"\d+", "0", word) for word in re.findall(r"\w+", text.lower()))


def split_packages(sizes: Counter[str]) -> dict[str, str]:
    """Package to train, dev or test. Packages are drawn by the hash of their name until test and dev hold their share
    of the pairs; one with more than `LARGEST_HELD_OUT_SHARE` of them always trains, so that none is the whole test."""
    total = sum(sizes.values())
    split_of = dict.fromkeys(sizes, "train")
    drawn = iter(sorted((p for p in sizes if sizes[p] <= LARGEST_HELD_OUT_SHARE * total), key=_draw))
    for split, share in (("test", TEST_SHARE), ("dev", DEV_SHARE)):
        held_out = 0
        while held_out < share * total and (package := next(islice(drawn, 1), None)) is not None:
            split_of[package] = split
            held_out += sizes[package]
    return split_of


def _draw(package: str) -> str:
    return hashlib.sha256(package.encode()).hexdigest()
