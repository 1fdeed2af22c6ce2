"""What the first model of a finished run is worth whole, cut to (qk, dk), and within shares of BM25's cost.

    python -m bench.frontier RUN [--out FILE.json]

`lexigraft run` chooses (qk, dk) for the one cost it was asked for. This asks one model for several costs, with the
points that studies measure: (qk, dk) are chosen on held-out queries, and measured on the run's. The run needs BM25
beside a model.
"""

import argparse
import json
from pathlib import Path

from lexigraft.stages.finished_run import open_run
from lexigraft.study.papers import STUDIES
from lexigraft.study.points import measure_points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    measured = measure_points(open_run(options.run), STUDIES["vocabulary"])
    rows = {
        name: {"qk": one.qk, "dk": one.dk, "MRR@10": one.mrr, "FLOPS": one.flops, "held out": one.held_out}
        for name, one in {"bm25": measured.bm25, **measured.points}.items()
    }
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
    for name, row in rows.items():
        print(f"{name}: ({row['qk']:g},{row['dk']}) {row['MRR@10']:.4f} @ {row['FLOPS']:.3f}")


if __name__ == "__main__":
    main()
