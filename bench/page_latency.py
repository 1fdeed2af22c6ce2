"""From a key to painted results, in a real browser: p50 and p95 of every system of a run, and of two side by side.

    python -m bench.page_latency RUN [--query TEXT ...] [--system NAME ...] [--pause-ms 120] [--rounds 3]
        [--out FILE.json]

Serves RUN in a process of its own, opens the page in Chromium and types the queries key by key. A key counts from its
input event (the browser's own time stamp of it) to the moment after the next frame was painted that had its results in
the page; a frame comes every 16.7 ms, so half of that is waiting for one. A key that the next one overtook is counted
apart. What the page's own thread computes for a key is given as well: other work on the machine lengthens only the
times on the clock. Prints JSON. Needs `chromium` and the extra `dev`.
"""

import argparse
import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.browser.serving import chromium, opened_browser, served, until

QUERIES = (
    "remove duplicates but keep order",
    "parse a date string",
    "symptoms and treatment",
    "shortest path in a graph",
)
FIRST_KEYS = 10  # of the first query, which warm the browser's own compiler and are not counted

# Times are kept by the text that was typed: a later key has another.
WATCH = """
() => {
  window.measured = [];
  const waiting = new Map();
  const input = document.getElementById("query");
  input.addEventListener("input", (event) => waiting.set(input.value, event.timeStamp), { capture: true });
  const sides = [...document.querySelectorAll(".hits")];
  const watcher = new MutationObserver(() => {
    const text = sides[0].dataset.query;
    if (text === "" || !waiting.has(text) || sides.some((side) => side.dataset.query !== text)) return;
    const begun = waiting.get(text);
    waiting.delete(text);
    const inPage = performance.now();
    requestAnimationFrame(() => {
      const channel = new MessageChannel(); // its message comes after this frame was painted
      channel.port1.onmessage = () => window.measured.push([text, inPage - begun, performance.now() - begun]);
      channel.port2.postMessage(null);
    });
  });
  for (const side of sides) watcher.observe(side, { attributes: true, attributeFilter: ["data-query"] });
}
"""


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def computed(session: Any) -> dict[str, float]:
    """Seconds of its core that the page's main thread has used since the session began."""
    values = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    kinds = {
        "all": "TaskDuration",
        "script": "ScriptDuration",
        "layout": "LayoutDuration",
        "style": "RecalcStyleDuration",
    }
    return {name: values[kind] for name, kind in kinds.items()}


def type_queries(page: Any, address: str, systems: Sequence[str], given: argparse.Namespace) -> dict[str, Any]:
    """What keys took with one system, or with two of them compared."""
    named = dict(zip(("system", "with"), systems, strict=False))
    page.goto(f"{address}/?{urlencode(named)}")
    page.wait_for_selector("#first-hits", state="attached")
    until(page, "many => document.querySelectorAll('.hits').length === many", len(systems))
    page.evaluate(WATCH)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    keys, before = 0, computed(session)
    for _ in range(given.rounds):
        for query in given.query:
            page.locator("#query").fill("")
            page.locator("#query").press_sequentially(query, delay=given.pause_ms)
            page.wait_for_timeout(300)
            keys += len(query)
    used = {name: round(1000 * (after - before[name]) / keys, 2) for name, after in computed(session).items()}
    measured = page.evaluate("() => window.measured")[FIRST_KEYS:]
    painted, in_page = [one[2] for one in measured], [one[1] for one in measured]
    return {
        "systems": list(systems),
        "keys": len(painted),
        "overtaken": keys - FIRST_KEYS - len(painted),
        "p50_ms": round(statistics.median(painted), 1),
        "p95_ms": round(percentile(painted, 0.95), 1),
        "max_ms": round(max(painted), 1),
        "p50_ms_until_in_the_page": round(statistics.median(in_page), 1),
        "p95_ms_until_in_the_page": round(percentile(in_page, 0.95), 1),
        "computed_ms_a_key": used,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--query", action="append")
    parser.add_argument("--system", action="append")
    parser.add_argument("--pause-ms", type=float, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    given.query = given.query or list(QUERIES)
    if chromium() is None:
        raise SystemExit("there is no chromium here; on Debian: apt-get install chromium")
    with served(given.run) as address, opened_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.wait_for_selector("#first-system option", state="attached")
        offered = page.locator("#first-system option").evaluate_all("nodes => nodes.map(node => node.value)")
        names = given.system or offered
        rows = [type_queries(page, address, [name], given) for name in names]
        if len(names) > 1:
            rows.append(type_queries(page, address, names[:2], given))
        found = {
            "run": given.run.name, "chromium": browser.version, "cores": os.cpu_count(), "load": os.getloadavg()[0],
            "queries": given.query, "pause_ms": given.pause_ms, "rows": rows,
        }  # fmt: skip
    text = json.dumps(found, indent=2)
    if given.out:
        given.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
