"""Lets an environment see the packages of the one that runs this, after its own.

    .venv/bin/python -m tests.engines.environment .venv-qdrant

`site.addsitedir` also follows the path files that lie there, and so finds a project that is installed to be edited.
"""

import sys
import sysconfig
from pathlib import Path


def see_packages_here(environment: Path) -> Path:
    """Write the path file, and return where it is."""
    own = Path(sysconfig.get_path("purelib"))
    folder = environment / own.relative_to(sys.prefix)
    file = folder / "packages_of_the_project.pth"
    file.write_text(f"import site; site.addsitedir({str(own)!r})\n")
    return file


if __name__ == "__main__":
    see_packages_here(Path(sys.argv[1]))
