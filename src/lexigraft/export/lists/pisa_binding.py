"""PISA's own code, where `pyterrier-pisa` is installed: it compresses the lists and computes their maxima.

    python -m lexigraft.export.lists.pisa_binding FOLDER

A process of its own does that: PISA writes to both outputs, and where something is wrong it ends its process. Of the
package the compiled module alone is loaded, by its path: the rest would need PyTerrier, and with it Java.
"""

import ctypes
import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

PACKAGE, MODULE = "pyterrier_pisa", "_pisathon"
ENCODING, SCORER, BLOCK_SIZE = "block_simdbp", "quantized", 64
MAXIMA = f"{SCORER}.q0.bmw.{BLOCK_SIZE}"
COMPRESSED = f"{MAXIMA}.{ENCODING}"


def is_installed() -> bool:
    return importlib.util.find_spec(PACKAGE) is not None


def compress(folder: Path) -> str:
    """Compress the lists of a folder; returns what went wrong, empty where nothing did."""
    command = [sys.executable, "-m", "lexigraft.export.lists.pisa_binding", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == 0 and (folder / COMPRESSED).is_file() and (folder / MAXIMA).is_file():
        return ""
    for made in (MAXIMA, COMPRESSED):
        (folder / made).unlink(missing_ok=True)
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"its process ended with {done.returncode}"


def load() -> ModuleType:
    """PISA's compiled module; raises `ImportError` where it cannot be loaded."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{PACKAGE} is not installed")
    threads = Path(sys.prefix) / "lib" / "libtbb.so.2"  # of the package tbb, where the system has none
    if threads.exists():
        ctypes.CDLL(str(threads), mode=ctypes.RTLD_GLOBAL)
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    path = Path(next(iter(spec.submodule_search_locations))) / f"{MODULE}{suffix}"
    found = importlib.util.spec_from_file_location(MODULE, path)
    if found is None or found.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def prepare(folder: Path) -> tuple[ModuleType, object]:
    """The index in a folder, opened for retrieval; what PISA needs beside the lists is made where it is not there."""
    module = load()
    context = module.RetrievalContext()
    module.prepare_index(context, str(folder), ENCODING, SCORER, "", block_size=BLOCK_SIZE, quantize=0)
    return module, context


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
