"""`study`: the five papers as commands, with verdicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lexigraft.cli.console import err, print_json, print_line, print_table
from lexigraft.cli.options import JsonOption, OutOption, SetOption

if TYPE_CHECKING:
    from lexigraft.study.conduct import Asked
    from lexigraft.study.perform import Ended
    from lexigraft.study.work import Work

ALL = "all"
NAMES = "vocabulary, pretraining, rescaling, wackiness, corpus-vocabulary"


def study(
    name: Annotated[
        str,
        typer.Argument(
            help=f"Which study: {NAMES}; all: each of them, in a folder of --out; claims: one table of those."
        ),
    ],
    out: OutOption,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data", help="A collection with training judgements; may be repeated. Without: nothing is trained."
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option("--scale", help="tiny (seconds an arm), cpu, or gpu, which alone decides.")
    ] = "gpu",
    arms: Annotated[
        str | None,
        typer.Option(
            "--arms", help="Some arms, with commas between, or all; those that claims wait for where not given."
        ),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds, with commas between.")] = "0,1,2",
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Processes at a time; eight or more fill a large GPU.")
    ] = 1,
    backbone: Annotated[
        str, typer.Option("--backbone", help="What arms begin with that do not begin from nothing.")
    ] = "",
    general: Annotated[str, typer.Option("--general", help="General texts, for the arms that read some.")] = "",
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", help="BERT's tokenizer; that of the packaged encoder where not given.")
    ] = "",
    other: Annotated[
        list[str] | None,
        typer.Option("--other", help="Another collection, for what is measured out of domain; may be repeated."),
    ] = None,
    stop_after: Annotated[
        float | None,
        typer.Option("--stop-after", help="Minutes after which what still runs is stopped; the next call goes on."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be trained, and about how long.")] = False,
    missing: Annotated[
        bool, typer.Option("--missing", help="Show the trainings that undecided claims wait for, most deciding first.")
    ] = False,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Repeat a paper's study: train its arms, compare them at equal cost, and decide its claims.

    Every arm is trained with several weights of its regulariser and several seeds. A finished training is one small
    JSON file in OUT/arms, which can be carried to another machine: what is there is not trained again. Claims are
    decided by three seeds and paired tests, at the scale gpu alone. Writes verdicts.md, tables, curves and
    results.json.
    """
    from lexigraft.study.all_claims import write_claims
    from lexigraft.study.conduct import ask, ask_all, conduct
    from lexigraft.study.regime import GPU

    if name == "claims":
        claims = write_claims(out)
        print_json(claims) if json else print_line(
            f"{out / 'claims.md'}: {claims['decided']} of {claims['all']} decided"
        )
        return
    options: dict[str, Any] = {
        "data": tuple(data or ()), "arms": _split(arms), "seeds": _numbers(seeds), "backbone": backbone,
        "general": general, "tokenizer": tokenizer, "others": tuple(other or ()), "given": tuple(set_ or ()),
    }  # fmt: skip
    asked = ask_all(scale, out, **options) if name == ALL else [ask(name, scale, out, **options)]
    if missing:
        _show_missing(asked, json)
        return
    plan = _plan(asked)
    if dry_run:
        _show_plan(plan, max(one.memory_gib() for one in asked), jobs, json)
        return
    minutes = sum(one.minutes for one in plan)
    _say(f"{len(plan)} processes to run, {jobs} at a time: about {minutes / jobs:.0f} minutes")
    results, ended = conduct(asked, jobs, None if stop_after is None else 60 * stop_after, _show_ended)
    if name == ALL and scale == GPU:
        write_claims(out)
    failed = [one for one in ended if one.status]
    claims = {claim: one for of_study in results for claim, one in of_study["claims"].items()}
    if json:
        print_json({"claims": claims, "failed": [one.name for one in failed]})
    else:
        _show_verdicts(claims, out, name == ALL)
    if failed:
        names = ", ".join(one.name for one in failed)
        logs = out / "*" / "logs" if name == ALL else out / "logs"
        _say(f"failed: {names}; their logs are in {logs}, and the next call tries them again")
        raise typer.Exit(1)


class _Planned(NamedTuple):
    """A process of a plan, as it is shown."""

    study: str
    collection: str
    arm: str
    seed: int
    trainings: int
    minutes: float
    about: str


def _plan(asked: "list[Asked]") -> list[_Planned]:
    from lexigraft.study.conduct import works_of

    works = works_of(asked)
    minutes: dict[Work, float] = {}
    for one in asked:
        own = [work for work in works if work.study.name == one.study.name]
        minutes |= zip(own, one.minutes(own), strict=True)
    return [
        _Planned(
            work.study.name, work.collection, work.arm.name, work.seed, len(work.unfinished()), minutes[work],
            work.arm.about,
        )
        for work in works
    ]  # fmt: skip


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _numbers(text: str) -> tuple[int, ...]:
    from lexigraft.core.errors import SettingError

    try:
        return tuple(sorted({int(part) for part in _split(text)}))
    except ValueError as error:
        raise SettingError(
            f"--seeds {text!r} is not allowed: whole numbers with commas between, such as 0,1,2"
        ) from error


def _say(text: str) -> None:
    err.print(text, soft_wrap=True, highlight=False)


def _show_ended(one: "Ended") -> None:
    how = "stopped" if one.status is None else "done" if one.status == 0 else f"failed: {one.said}"
    _say(f"{one.name}: {how}, {one.seconds:.0f} s")


def _show_plan(plan: list[_Planned], gib: float, jobs: int, json: bool) -> None:
    total = sum(one.minutes for one in plan)
    if json:
        print_json({"processes": [one._asdict() for one in plan], "minutes": total / jobs, "gib_a_process": gib})
        return
    arms: dict[tuple[str, str, str], list[_Planned]] = {}  # the seeds of an arm in one line
    for one in plan:
        arms.setdefault((one.study, one.collection, one.arm), []).append(one)
    rows = [
        [*arm, " ".join(str(one.seed) for one in seeds), str(sum(one.trainings for one in seeds)),
         f"{sum(one.minutes for one in seeds):.1f}", seeds[0].about]
        for arm, seeds in arms.items()
    ]  # fmt: skip
    columns = ["study", "collection", "arm", "seeds", "trainings", "minutes", "what"]
    print_table("", columns, rows, ("study", "collection", "arm", "what"))
    print_line(f"about {total / jobs:.0f} minutes with --jobs {jobs}, {gib:.1f} GiB of memory a process")


def _show_missing(asked: "list[Asked]", json: bool) -> None:
    found = sorted(((one.study.name, some) for one in asked for some in one.missing()), key=lambda it: -it[1].worth)
    if json:
        print_json([
            {"study": study, **one.training._asdict(), "claims": one.claims, "minutes": one.minutes}
            for study, one in found
        ])  # fmt: skip
        return
    rows = [
        [study, one.training.collection, one.training.arm,
         "" if one.training.weight is None else f"{one.training.weight:g}", str(one.training.seed),
         " ".join(one.claims), f"{one.minutes:.1f}"]
        for study, one in found
    ]  # fmt: skip
    columns = ["study", "collection", "arm", "weight", "seed", "claims that wait", "minutes"]
    print_table("", columns, rows, ("study", "collection", "arm", "claims that wait"))
    print_line(f"{len(found)} trainings, about {sum(one.minutes for _, one in found):.0f} minutes one after the other")


def _show_verdicts(claims: dict[str, Any], out: Path, of_all: bool) -> None:
    for name, one in claims.items():
        print_line(f"{name} {one['verdict']}: {one['why']}")
    print_line(str(out / "claims.md") if of_all else f"{out / 'verdicts.md'}, tables.md, curves.png, results.json")
