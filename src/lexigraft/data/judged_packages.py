"""The packages that the judged view of `pydocs` is made of, by name: what is measured must not depend on what else is
installed.

They are what `pip install -c constraints.txt -e '.[train]'` brings on every platform, closed over its dependencies, and
the standard library. Left out are Lexigraft itself, whose docstrings change every day, pip, whose version nobody pins,
and what comes on some platforms only (ir-measures and its pytrec-eval, triton, the libraries of CUDA). So is what came
after the collection was fixed, with what only that needs: numbers of different days can be compared.
"""

import importlib.metadata
import platform
from importlib.metadata import Distribution
from typing import NamedTuple

PYTHON = "python"  # the standard library
CAME_LATER = ("onnx", "onnxscript", "onnxruntime", "pycld2")
JUDGED_DISTRIBUTIONS = (
    "annotated-doc", "annotated-types", "anyio", "click", "contourpy", "cycler", "filelock", "fonttools", "fsspec",
    "h11", "hf-xet", "httpcore2", "httpx2", "huggingface-hub", "idna", "jinja2", "kiwisolver", "llvmlite",
    "markdown-it-py", "markupsafe", "matplotlib", "mdurl", "mpmath", "networkx", "numba", "numpy", "packaging",
    "pillow", "pydantic", "pydantic-core", "pygments", "pyparsing", "pystemmer", "python-dateutil", "pyyaml", "regex",
    "rich", "safetensors", "scipy", "setuptools", "shellingham", "stopwordsiso", "sympy", "tokenizers", "torch", "tqdm",
    "transformers", "truststore", "typer", "typing-extensions", "typing-inspection", "tzdata",
)  # fmt: skip


class JudgedPackages(NamedTuple):
    """Which of the named packages are installed, by name, and the names of those that are not."""

    present: dict[str, Distribution]
    missing: list[str]

    @property
    def versions(self) -> dict[str, str]:
        """All that the judged view depends on: the version of Python, and those of the packages it was made of."""
        return {PYTHON: platform.python_version(), **{name: dist.version for name, dist in self.present.items()}}


def judged_packages() -> JudgedPackages:
    """Look for the named packages, each where `import` would find it."""
    found = {name: _distribution(name) for name in JUDGED_DISTRIBUTIONS}
    present = {name: dist for name, dist in found.items() if dist is not None}
    return JudgedPackages(present, [name for name in found if name not in present])


def _distribution(name: str) -> Distribution | None:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
