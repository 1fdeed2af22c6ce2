"""Schemathesis over the server's own description: requests that it allows, and requests that it forbids.

    python -m tests.fuzz.serve RUN... --examples 400 [--seed 0]

starts a server, has every operation asked in both ways, prints counts as JSON, and ends with 1 if an answer was a fault
of the server, had a status or a shape that the description does not name, or if something forbidden was answered.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.serving import served

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "negative_data_rejection", "unsupported_method",
)  # fmt: skip
# What is forbidden may also be too long, which it does not expect.
SETTINGS = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 408, 413, 414, 415, 422, 429, 431]
"""
COUNTED = re.compile(r"([\d,]+) generated, ([\d,]+) passed")


def try_schemas(address: str, examples: int, seed: int = 0, phases: str = "coverage,fuzzing") -> dict[str, Any]:
    """So many examples of every operation: how many were generated and passed, and what was said at the end."""
    begun = time.monotonic()
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json", "--checks", ",".join(CHECKS),
        "--max-examples", str(examples), "--seed", str(seed), "--phases", phases, "--mode", "all", "--no-color",
        "--suppress-health-check", "all", "--generation-database", "none",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:  # it leaves files where it is called
        (Path(folder) / "schemathesis.toml").write_text(SETTINGS)
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    counted = COUNTED.search(ended.stdout)
    cases, passed = (int(number.replace(",", "")) for number in counted.groups()) if counted else (0, 0)
    return {
        "cases": cases, "passed": passed, "exit_status": ended.returncode,
        "seconds": round(time.monotonic() - begun, 1), "said": (ended.stdout + ended.stderr)[-4000:],
    }  # fmt: skip


def is_clean(found: dict[str, Any]) -> bool:
    return bool(found["cases"] and found["passed"] == found["cases"] and not found["exit_status"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, help="what is served; else a small world of its own")
    parser.add_argument("--examples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = given.runs
        if not runs:
            from tests.fuzz.world import make_world

            make_world(Path(folder))
            runs = [Path(folder) / "run", Path(folder) / "live"]
        with served(*runs) as server:
            found = try_schemas(server.address, given.examples, given.seed)
    print(json.dumps(found, indent=1))
    sys.exit(0 if is_clean(found) else 1)


if __name__ == "__main__":
    main()
