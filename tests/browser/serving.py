"""A server in a process of its own, and the browser that looks at it."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

SECONDS_TO_BE_READY = 120  # kernels may have to be compiled first
WHY_NOT = "there is no chromium here; on Debian: apt-get install chromium (or CHROMIUM=/path/to/it)"


def chromium() -> str | None:
    """The browser's path, where there is one."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


needs_chromium = pytest.mark.skipif(chromium() is None, reason=WHY_NOT)


@contextlib.contextmanager
def served(*arguments: object) -> Iterator[str]:
    """The address of `lexigraft serve`, which ends with the block."""
    command = [sys.executable, "-m", "lexigraft", "serve", *map(str, arguments), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            address = _address(process)
            _wait_until_ready(address)
            yield address
        finally:
            process.terminate()


def _address(process: "subprocess.Popen[str]") -> str:
    said = ""
    for line in process.stdout or ():
        said += line
        if found := re.search(r"http://[\w.\[\]:]+", line):
            return found[0]
    raise AssertionError(f"the server ended before it said its address: {said}")


def _wait_until_ready(address: str) -> None:
    until = time.monotonic() + SECONDS_TO_BE_READY
    while time.monotonic() < until:
        if _is_ready(address):
            return
        time.sleep(0.1)
    raise AssertionError("the server was not ready in time")


def _is_ready(address: str) -> bool:
    """False also where it cannot be reached yet, or says 503."""
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:  # HTTP errors are a kind of these, too
        return False


def until(page: Any, condition: str, given: object = None, seconds: float = 10) -> None:
    """Wait until a function of JavaScript says true. Playwright's own waiting evaluates texts in the page, which the
    content-security policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition, given):
        assert time.monotonic() < end, f"it never came to: {condition} {given}"
        time.sleep(0.02)


@contextlib.contextmanager
def opened_browser() -> Iterator[Any]:
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Containers have no namespaces for its sandbox; it looks at our own pages only.
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
