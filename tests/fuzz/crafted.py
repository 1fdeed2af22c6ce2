"""Contents that a stranger made, with right checksums: whatever the files of an artifact say, who uses it gets an
answer or one line of error, and never a signal, a hang or a traceback.

    python -m tests.fuzz.crafted [--cases 1000] [--seed 0] [--out FILE.json]

A case changes one or two files of an artifact by numbers rather than bytes, makes the checksums fit, and uses it in a
fork of a process that has all kernels loaded. Counts are printed by kind of artifact; problems with their seeds.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.crafting import fit_checksums
from tests.fuzz.mutations import ODD_VALUES
from tests.fuzz.workers import limit_this_process

SECONDS = 20  # a case that takes longer hangs
FINE, REFUSED, WRONG = 0, 2, 3
# What a change that is none for a file raises; thousands of brackets, too, which no checksum can be made for.
NO_CHANGE = (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError, RecursionError)


class Case(NamedTuple):
    kind: str
    number: int
    files: tuple[str, ...]
    verdict: str
    said: str


def change_numbers(array: np.ndarray, chance: random.Random) -> np.ndarray:
    """A few elements, or all, get values that lead outside."""
    array = array.copy()
    if not array.size:
        return np.ones(chance.randrange(1, 4), array.dtype)
    flat = array.reshape(-1)
    places = chance.choice(
        ([0], [-1], [chance.randrange(flat.size)], range(flat.size), chance.choices(range(flat.size), k=3))
    )
    for place in places:
        flat[place] = _odd_number(flat, place, chance)
    return array


def _odd_number(flat: np.ndarray, place: int, chance: random.Random) -> Any:
    if flat.dtype.kind == "f":
        return chance.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, 1e-45, float(flat[place]) * 2))
    limits = np.iinfo(flat.dtype) if flat.dtype.kind in "iu" else np.iinfo(np.uint8)
    usual = int(flat[place])
    near = (usual + 1, usual - 1, usual ^ (1 << chance.randrange(16)), flat.size, flat.size - 1)
    value = chance.choice((limits.min, limits.max, *near, *ODD_NUMBERS))
    return np.array(min(max(value, limits.min), limits.max)).astype(flat.dtype)


def change_order(array: np.ndarray, chance: random.Random) -> np.ndarray:
    if len(array) < 2:
        return np.concatenate([array, array])
    moved = array.copy()
    return chance.choice((moved[::-1], np.sort(moved), np.roll(moved, 1), np.concatenate([moved[1:2], moved[1:]])))


def change_length(array: np.ndarray, chance: random.Random) -> np.ndarray:
    return chance.choice((array[:-1], array[1:], np.concatenate([array, array[-1:]]), array[:0], np.tile(array, 3)))


def change_kind(array: np.ndarray, chance: random.Random) -> np.ndarray:
    dtype = chance.choice(
        (np.int8, np.int16, np.int64, np.uint64, np.float64, np.float16, np.complex64, np.bool_, ">i8", "S3")
    )
    with np.errstate(all="ignore"):
        retyped = array.astype(dtype) if array.size else np.zeros(2, dtype)
    return chance.choice(
        (retyped, array.reshape(1, -1), array.reshape(-1, 1), np.asfortranarray(array.reshape(1, -1)), array[:1].sum())
    )


ARRAY_CHANGES = (change_numbers,) * 5 + (change_order, change_length, change_kind)
ODD_NUMBERS = (-1, 0, 1, 2, 3, 255, 0xFF00, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**40)
SHAPES = ("(1000000000000000000,)", "(-1,)", "(9223372036854775808,)", "()", "(0, 5)", "(2, -3)", "('x',)", "[" * 200)


def craft_array(path: Path, chance: random.Random) -> None:
    if chance.random() < 0.06:
        body = path.read_bytes()[128:]
        fields = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {chance.choice(SHAPES)}, }}".encode()
        header = fields.ljust(max(117, len(fields))) + b"\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body)
        return
    np.save(path, chance.choice(ARRAY_CHANGES)(np.load(path), chance))


def craft_strings(path: Path, chance: random.Random) -> None:
    found = bytearray(path.read_bytes())
    bad = chance.choice(
        (b"\xff", b"\x80", b"\xed\xa0\x80", b"\xc0\xaf", b"\0", b"\x1b[2J", b"\xf4\x90\x80\x80", b"\n", b"#")
    )
    place = chance.randrange(max(1, len(found)))
    change = chance.randrange(3)
    if change == 0:
        found[place : place + len(bad)] = bad[: max(1, len(found) - place)]
    elif change == 1:
        found[place:place] = bad
    else:
        del found[place : place + chance.randrange(1, 9)]
    path.write_bytes(bytes(found))


def craft_json(path: Path, chance: random.Random) -> None:
    if chance.random() < 0.05:
        path.write_text(chance.choice(("[" * 3000, "[]", "1", "null", '"x"', "{}", '{"a": ' * 3000, "9" * 5000)))
        return
    content = json.loads(path.read_bytes())
    places = list(_places(content))
    holder, key = chance.choice(places)
    change = chance.randrange(4)
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder[key], int):
        holder[key] += chance.choice((-1, 1, 10**18, -(10**18), 2**31))
    elif change == 2 and isinstance(holder, dict):
        holder[chance.choice(("unheard", "bits", "of"))] = chance.choice(ODD_VALUES)
    else:
        holder[key] = chance.choice(ODD_VALUES)
    path.write_text(json.dumps(content), encoding="utf-8", errors="surrogatepass")


def _places(value: Any) -> Any:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in list(inner):
        yield value, key
        yield from _places(below)


def craft_blocks(path: Path, chance: random.Random) -> None:
    """Compressed texts: random bytes, or few that say that they are very many; the block beside says where it ends."""
    found = path.read_bytes()
    change = chance.randrange(3)
    if change == 0 and found:
        place = chance.randrange(len(found))
        found = found[:place] + chance.randbytes(3) + found[place + 3 :]
    elif change == 1:
        found = zlib.compress(bytes(1 << 28), 9)
    else:
        found = found[:-1]
    path.write_bytes(found)
    starts = path.with_name("texts.block_starts.npy")
    ends = np.load(starts)
    ends[-1] = len(found)
    np.save(starts, ends)
    if change == 1 and chance.random() < 0.5:
        rows = np.load(path.with_name("texts.ends.npy"))
        rows[-1] = chance.choice((1 << 28, 2**32 - 1))
        np.save(path.with_name("texts.ends.npy"), rows)


CRAFTS: dict[str, Callable[[Path, random.Random], None]] = {
    ".npy": craft_array, ".utf8": craft_strings, ".json": craft_json, ".zlib": craft_blocks
}  # fmt: skip


def craft(folder: Path, chance: random.Random) -> tuple[str, ...]:
    """Change one file of an artifact, or two, and all checksums with them; says which. Or make a file a hole, whose
    size alone says that it is wrong."""
    if chance.random() < 0.05:
        file = chance.choice(sorted(file for file in folder.rglob("*") if file.is_file()))
        os.truncate(file, 1 << 40)
        return (file.relative_to(folder).as_posix(),)
    files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.suffix in CRAFTS)
    files = [file for file in files if not file.endswith("manifest.json")]
    before = {file: (folder / file).read_bytes() for file in files}
    chosen = tuple(chance.sample(files, 2 if chance.random() < 0.2 else 1))
    for file in chosen:
        with contextlib.suppress(*NO_CHANGE):
            CRAFTS[Path(file).suffix](folder / file, chance)
    for file, content in before.items():  # some are changed together with others
        if (folder / file).read_bytes() != content:
            with contextlib.suppress(*NO_CHANGE):  # a state that names no segments vouches for none
                fit_checksums(folder, file)
    return chosen


def use_forked(use: Callable[[Path], Any], folder: Path) -> tuple[str, str]:
    """(verdict, what was said) of a use in a fork of this process."""
    report = folder.with_name("report")
    report.write_text("")
    child = os.fork()
    if not child:
        status = WRONG
        try:
            limit_this_process(SECONDS, 3 << 30)
            status = _used(use, folder, report)
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = report.read_text(errors="replace")
    if status == -signal.SIGALRM:
        return "hang", said
    if status < 0:
        return f"signal {-status}", said
    return {FINE: "answered", REFUSED: "refused"}.get(status, "traceback"), said


def _used(use: Callable[[Path], Any], folder: Path, report: Path) -> int:
    from lexigraft.core.errors import LexigraftError

    try:
        use(folder)
    except LexigraftError as error:
        report.write_text(str(error), errors="replace")
        return REFUSED
    except BaseException:  # noqa: BLE001
        report.write_text(traceback.format_exc(), errors="replace")
        return WRONG
    return FINE


def run_cases(root: Path, scratch: Path, seed: int, numbers: range, until: float = float("inf")) -> list[Case]:
    """Cases of the artifacts in `root`, each known by seed and number, as many as there is time for."""
    from tests.fuzz.crafted_world import USES

    found: list[Case] = []
    kinds = list(USES)
    for number in numbers:
        if time.monotonic() > until:
            break
        chance, kind = random.Random(f"{seed} {number}"), kinds[number % len(kinds)]
        folder = scratch / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(root / kind, folder)
        files = craft(folder, chance)
        found.append(Case(kind, number, files, *use_forked(USES[kind], folder)))
    return found


def warm_up(root: Path, scratch: Path) -> None:
    """Use each artifact as it is, in this very process, so that forks find all kernels loaded."""
    from tests.fuzz.crafted_world import USES

    for kind, use in USES.items():
        shutil.copytree(root / kind, scratch / "warm")
        use(scratch / "warm")
        shutil.rmtree(scratch / "warm")


def tally(cases: list[Case]) -> dict[str, Any]:
    kinds: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case in cases:
        kinds[case.kind][case.verdict] += 1
    problems = [case for case in cases if case.verdict not in ("answered", "refused")]
    return {
        "cases": len(cases),
        "refused_by_checksum": sum("does not match its checksum" in case.said for case in cases),  # must be few
        "verdicts": dict(collections.Counter(case.verdict for case in cases)),
        "kinds": {kind: dict(counts) for kind, counts in kinds.items()},
        "problems": [{**case._asdict(), "said": case.said[-1200:]} for case in problems],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60, help="no new case after so many")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_STATE_HOME=f"{folder}/state", XDG_CACHE_HOME=f"{folder}/cache")
        from tests.fuzz.crafted_world import make_artifacts

        root, scratch = Path(folder) / "root", Path(folder) / "scratch"
        root.mkdir()
        scratch.mkdir()
        make_artifacts(root)
        warm_up(root, scratch)
        numbers = range(options.first, options.first + options.cases)
        result = tally(run_cases(root, scratch, options.seed, numbers, time.monotonic() + 60 * options.minutes))
    shown = json.dumps(result, indent=2) + "\n"
    sys.stdout.write(shown)
    if options.out:
        options.out.write_text(shown)
    sys.exit(bool(result["problems"]))


if __name__ == "__main__":
    main()
