"""What is measured, and how often."""

from dataclasses import dataclass

from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class EvaluateSettings(Section, name="evaluate"):
    """What is measured, and how often."""

    measures: tuple[str, ...] = setting(
        ("R@100", "R@1000"), "measures beside MRR@10, R@10 and nDCG@10, which every report has"
    )
    run_depth: int = setting(
        100, "results a query in the run file; measures see all that were searched for", at_least=1
    )
    timing_queries: int = setting(500, "at most so many searches are timed, and a tenth as many encodings", at_least=1)
    timing_runs: int = setting(5, "how often each is timed", at_least=1)
