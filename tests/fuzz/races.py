"""Readers beside a writer that replaces an index, in processes of their own: every answer is of the one version or of
the other.

    python -m tests.fuzz.races --opens 2000 --rebuilds 200

prints counts as JSON, and ends with 1 if an answer was wrong, an opening failed or a reader died. `--how swap` copies
finished files, so that the writer does little but replace; `--how build` indexes a collection every time; `--how run`
continues a whole run with another setting, which replaces its vectors, indexes and evaluations one after the other.
"""

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.config import load_settings
from lexigraft.core.settings import Settings
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.standalone import build
from lexigraft.whole_run import run as whole_run

# So many documents. Two versions have files of the same sizes, which fit together and give wrong answers where they are
# mixed; those of the third fit neither.
VERSIONS = {"one": 300, "two": 300, "three": 900}
SETTINGS = {"one": "lexical.k1=0.9", "two": "lexical.k1=1.5", "three": "lexical.k1=2.5"}  # of runs
QUERIES = ("river bank", "stone", "only here")
ENOUGH, STOP = "enough", "stop"  # files that the processes see each other by
SHOWN = 5  # different errors


def write_collection(folder: Path, name: str, n_documents: int) -> None:
    folder.mkdir(parents=True)
    (folder / "qrels").mkdir()
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": QUERIES[0]}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td1\t1\n")
    words = ["river", "bank", "stone", "moss", "only", "here", name]
    first = list(VERSIONS).index(name)  # the same words, in other documents
    with (folder / "corpus.jsonl").open("w") as file:
        for number in range(n_documents):
            own = [words[(number * step + first) % len(words)] for step in (1, 2, 3)]
            text = f"{' '.join(own)} of {name} number{number} " + "filler " * (number % 7)
            file.write(json.dumps({"_id": f"d{number}", "title": "", "text": text}) + "\n")


def prepare(folder: Path, how: str = "swap") -> None:
    """All versions, finished, what each of them answers, and the first one in the place that is read."""
    answers = {}
    for name, n_documents in VERSIONS.items():
        write_collection(folder / name / "data", name, n_documents)
        if how == "run":
            continue_run(folder, name, folder / name / "index")
        else:
            build(str(folder / name / "data"), folder / name / "index", Settings())
        answers[name] = answer_of(folder / name)
    assert len({json.dumps(answer) for answer in answers.values()}) == len(VERSIONS)
    (folder / "answers.json").write_text(json.dumps(answers))
    (folder / "live").mkdir()
    replace(folder, "one", "run" if how == "run" else "swap")


def continue_run(folder: Path, name: str, out: Path) -> None:
    """Make, or continue, a run of the first collection with the setting of a version."""
    settings = load_settings(None, ["run.systems=bm25", "evaluate.timing_runs=1", SETTINGS[name]])
    whole_run(str(folder / "one" / "data"), out, settings)


def answer_of(place: Path) -> Any:
    """What the index, or the run, at `place` answers, with scores and texts."""
    with Retriever.open(place / "index") as opened:
        found: dict[str, Any] = {query: [] for query in QUERIES}
        for query in QUERIES:
            for document in opened.answer(query).hits:
                found[query].append([document.doc_id, round(document.score, 4), document.text])
        return [opened.n_documents, found]


def replace(folder: Path, name: str, how: str) -> None:
    """Put the version called `name` in the place that is read."""
    source, place = folder / name, folder / "live"
    if how == "build":
        build(str(source / "data"), place / "index", Settings(), replace_other=True)
        return
    if how == "run":
        continue_run(folder, name, place / "index")
        return
    made = read_manifest(source / "index")
    assert made is not None
    with write_artifact(place / "index", Manifest(made.kind, made.format_version, made.config)) as draft:
        for file in made.files:
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / "index" / file, draft / file)


def writing(folder: Path, rebuilds: int, how: str) -> dict[str, Any]:
    """Replace in turns, at least so often, until somebody says stop."""
    n_rebuilds, begun = 0, time.monotonic()
    try:
        for name in itertools.cycle([*list(VERSIONS)[1:], next(iter(VERSIONS))]):
            replace(folder, name, how)
            n_rebuilds += 1
            if n_rebuilds == rebuilds:
                (folder / ENOUGH).touch()
            if n_rebuilds >= rebuilds and (folder / STOP).exists():
                break
    finally:
        (folder / ENOUGH).touch()  # nobody waits for one that failed
    return {"rebuilds": n_rebuilds, "seconds": round(time.monotonic() - begun, 1)}


def reading(folder: Path, opens: int) -> dict[str, Any]:
    """Open and ask, at least so often, until the writer has replaced often enough."""
    known = json.loads((folder / "answers.json").read_text())
    found, errors = Counter[str](), Counter[str]()
    while found.total() < opens or not (folder / ENOUGH).exists():
        try:
            answer = answer_of(folder / "live")
        except Exception as error:  # noqa: BLE001  # each is a finding
            found["error"] += 1
            errors[f"{type(error).__name__}: {error}".replace(str(folder), "")[:200]] += 1
            continue
        found[next((name for name, right in known.items() if right == answer), "wrong")] += 1
    return {"found": dict(found), "errors": dict(errors.most_common(SHOWN))}


def race(folder: Path, opens: int, rebuilds: int, how: str, n_readers: int = 2) -> dict[str, Any]:
    """Readers and a writer, each in its own process; `opens` is for all readers together."""
    prepare(folder, how)
    begun = time.monotonic()
    own = [sys.executable, "-m", "tests.fuzz.races", "--folder", str(folder)]
    calls = [[*own, "--role", "reader", "--opens", str(-(-opens // n_readers))] for _ in range(n_readers)]
    calls.append([*own, "--role", "writer", "--rebuilds", str(rebuilds), "--how", how])
    started = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True) for call in calls]
    *readers, writer = started
    said = []
    for process in readers:
        said.append(process.communicate()[0])
    (folder / STOP).touch()
    written = writer.communicate()[0]
    found, errors = Counter[str](), Counter[str]()
    for process, text in zip(readers, said, strict=True):
        told = json.loads(text) if process.returncode == 0 else {"found": {"dead": 1}, "errors": {}}
        found.update(told["found"])
        errors.update(told["errors"])
    counts = {name: found[name] for name in (*VERSIONS, "wrong", "error", "dead")}
    return {
        "how": how,
        "opens": sum(counts[name] for name in (*VERSIONS, "wrong", "error")),
        **counts,
        "errors": dict(errors.most_common(SHOWN)),
        "writer": json.loads(written) if writer.returncode == 0 else {"died": writer.returncode},
        "seconds": round(time.monotonic() - begun, 1),
    }


def is_clean(told: dict[str, Any]) -> bool:
    return not (told["wrong"] or told["error"] or told["dead"] or "died" in told["writer"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opens", type=int, default=2000)
    parser.add_argument("--rebuilds", type=int, default=200)
    parser.add_argument("--how", choices=("build", "swap", "run"), default="build")
    parser.add_argument("--role", choices=("all", "reader", "writer"), default="all")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.role == "reader":
        print(json.dumps(reading(given.folder, given.opens)))
        return 0
    if given.role == "writer":
        print(json.dumps(writing(given.folder, given.rebuilds, given.how)))
        return 0
    with tempfile.TemporaryDirectory(prefix="lexigraft-races-") as folder:
        told = race(given.folder or Path(folder), given.opens, given.rebuilds, given.how)
    print(json.dumps(told, indent=2))
    return 0 if is_clean(told) else 1


if __name__ == "__main__":
    sys.exit(main())
