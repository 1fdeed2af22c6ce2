"""How fast an index goes out as inverted lists or JSON vectors and comes back, in processor time: prints JSON.

python -m bench.export_rate INDEX [OUT]
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lexigraft.core.compiled import load_kernels
from lexigraft.export.importing.import_index import import_index
from lexigraft.export.targets import Wanted, export

TARGETS = {"ciff": ("ciff", "index.ciff"), "pisa": ("", "index"), "anserini": ("vectors", "collection")}


def clocked(work: Callable[[], Any]) -> dict[str, float]:
    wall, used = time.perf_counter(), time.process_time()
    work()
    return {"seconds": round(time.perf_counter() - wall, 2), "processor_seconds": round(time.process_time() - used, 2)}


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.iterdir())


def measure(index: Path, work: Path) -> dict[str, Any]:
    """Each the second time, so that no kernel is compiled meanwhile."""
    load_kernels()
    found: dict[str, Any] = {}
    for target, (format_, name) in TARGETS.items():
        export(target, Wanted(index), work / target)
        out = clocked(lambda target=target: export(target, Wanted(index), work / target))  # type: ignore[misc]
        facts = json.loads((work / target / "export.json").read_text())["facts"]
        found[target] = {"bytes": size_of(work / target / name), "export": out}
        rows, used = facts["n_documents"], out["processor_seconds"]
        found[target]["rows_a_processor_second"] = round(rows / max(used, 0.01))
        if format_:
            back = clocked(lambda: import_index(work / target / name, format_, work / "back", replace_other=True))  # noqa: B023
            found[target]["import"] = back
            found[target]["rows_imported_a_processor_second"] = round(rows / max(back["processor_seconds"], 0.01))
    return found


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as name:
        print(json.dumps(measure(Path(sys.argv[1]), Path(name)), indent=1))
