"""Anserini's jar into an environment, out of the source package of pyserini (165 MB), which alone has it.

    .venv/bin/python -m tests.engines.anserini_jar .venv-inverted

Where the package cannot be had, that is said, and what needs the jar is skipped by its name.
"""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGE = "pyserini==1.6.0"


def fetch_jar(environment: Path) -> Path | None:
    """The jar in the environment; None where its package cannot be had."""
    if found := next(environment.glob("anserini-*-fatjar.jar"), None):
        return found
    with TemporaryDirectory(dir=environment) as name:
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                   "--no-build-isolation", "--no-binary", ":all:", "-d", name, PACKAGE]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            return None
        with tarfile.open(next(Path(name).glob("pyserini-*.tar.gz"))) as packed:
            member = next(one for one in packed if one.name.endswith("-fatjar.jar"))
            content = packed.extractfile(member)
            assert content is not None, "a jar is a file"
            draft = Path(name) / "draft.jar"
            with draft.open("wb") as file:
                shutil.copyfileobj(content, file)
        return draft.rename(environment / Path(member.name).name)


if __name__ == "__main__":
    if fetch_jar(Path(sys.argv[1])) is None:
        sys.stderr.write(f"Anserini is not tested: {PACKAGE} cannot be had here\n")
