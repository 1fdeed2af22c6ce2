"""`study`: the five papers as commands, with verdicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexigraft.cli.console import err, print_json, print_line, print_table
from lexigraft.cli.options import JsonOption, OutOption, SetOption

if TYPE_CHECKING:
    from lexigraft.study.conduct import Asked
    from lexigraft.study.perform import Ended

NAMES = "vocabulary, pretraining, rescaling, wackiness, corpus-vocabulary"


def study(
    name: Annotated[
        str, typer.Argument(help=f"Which study: {NAMES}; or claims: one table of all, of --out's folders.")
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
    from lexigraft.study.conduct import ask, conduct

    if name == "claims":
        claims = write_claims(out)
        print_json(claims) if json else print_line(
            f"{out / 'claims.md'}: {claims['decided']} of {claims['all']} decided"
        )
        return
    asked = ask(
        name, scale, out, data=tuple(data or ()), arms=_split(arms), seeds=_numbers(seeds), backbone=backbone,
        general=general, tokenizer=tokenizer, others=tuple(other or ()), given=tuple(set_ or ()),
    )  # fmt: skip
    if missing:
        _show_missing(asked, json)
        return
    if dry_run:
        _show_plan(asked, jobs, json)
        return
    works = asked.works()
    minutes = sum(asked.minutes(works))
    _say(f"{len(works)} processes to run, {jobs} at a time: about {minutes / jobs:.0f} minutes")
    results, ended = conduct(asked, jobs, None if stop_after is None else 60 * stop_after, _show_ended)
    failed = [one for one in ended if one.status]
    if json:
        print_json({"claims": results["claims"], "failed": [one.name for one in failed]})
    else:
        _show_verdicts(results, out)
    if failed:
        names = ", ".join(one.name for one in failed)
        _say(f"failed: {names}; their logs are in {out / 'logs'}, and the next call tries them again")
        raise typer.Exit(1)


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


def _show_plan(asked: "Asked", jobs: int, json: bool) -> None:
    works = asked.works()
    rows = [
        [work.collection, work.arm.name, str(work.seed), str(len(work.unfinished())), f"{minutes:.1f}",
         work.arm.about]
        for work, minutes in zip(works, asked.minutes(works), strict=True)
    ]  # fmt: skip
    gib = asked.memory_gib()
    total = sum(asked.minutes(works))
    if json:
        plan = [
            dict(zip(("collection", "arm", "seed", "trainings", "minutes", "about"), row, strict=True)) for row in rows
        ]
        print_json({"processes": plan, "minutes": total / jobs, "gib_a_process": gib})
        return
    print_table("", ["collection", "arm", "seed", "trainings", "minutes", "what"], rows, ("collection", "arm", "what"))
    print_line(f"about {total / jobs:.0f} minutes with --jobs {jobs}, {gib:.1f} GiB of memory a process")


def _show_missing(asked: "Asked", json: bool) -> None:
    found = asked.missing()
    if json:
        print_json([{**one.training._asdict(), "claims": one.claims, "minutes": one.minutes} for one in found])
        return
    rows = [
        [one.training.collection, one.training.arm, "" if one.training.weight is None else f"{one.training.weight:g}",
         str(one.training.seed), " ".join(one.claims), f"{one.minutes:.1f}"]
        for one in found
    ]  # fmt: skip
    columns = ["collection", "arm", "weight", "seed", "claims that wait", "minutes"]
    print_table("", columns, rows, ("collection", "arm", "claims that wait"))
    print_line(f"{len(found)} trainings, about {sum(one.minutes for one in found):.0f} minutes one after the other")


def _show_verdicts(results: dict[str, Any], out: Path) -> None:
    for name, one in results["claims"].items():
        print_line(f"{name} {one['verdict']}: {one['why']}")
    print_line(f"{out / 'verdicts.md'}, tables.md, curves.png, results.json")
