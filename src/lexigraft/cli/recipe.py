"""`recipe`: whole sets of settings by name, listed and shown."""

from dataclasses import asdict
from typing import Annotated

import typer

from lexigraft.cli.console import print_json, print_line, print_prose, print_table
from lexigraft.cli.options import JsonOption

app = typer.Typer(no_args_is_help=True, help="Whole sets of settings by name: the papers', and small ones beside them.")


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the recipes that --recipe takes."""
    from lexigraft.core.recipes import list_recipes

    recipes = list_recipes()
    if json:
        print_json([{"name": r.name, "title": r.title, "paper": r.paper, "scale": r.scale} for r in recipes])
        return
    # The titles of the papers are long and come several times: below the table, each once.
    papers = {
        paper: f"[{number}]" for number, paper in enumerate(dict.fromkeys(r.paper for r in recipes if r.paper), 1)
    }
    columns = ("recipe", "scale", "what it is", "paper")
    print_table("", columns, [(r.name, r.scale, r.title, papers.get(r.paper, "")) for r in recipes], left=columns)
    for paper, number in papers.items():
        print_prose(f"{number} {paper}")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A recipe's name, or a TOML file.")], json: JsonOption = False
) -> None:
    """Show a recipe: what it is, which settings are not the defaults, and the whole file."""
    from lexigraft.core.config import changed_settings, load_settings
    from lexigraft.core.recipes import read_recipe
    from lexigraft.core.settings import Settings

    recipe, changed = read_recipe(name), changed_settings(load_settings(recipe=name))
    if json:
        print_json({**asdict(recipe), "changed": changed})
        return
    print_line(f"{recipe.name}: {recipe.title}", style="bold")
    for line in (recipe.paper, recipe.about):
        if line:
            print_line(line)
    rows = [(key, _default(key, Settings()), str(value)) for key, value in changed.items()]
    print_table("\nOther than the default", ("setting", "default", "here"), rows, left=("setting", "default", "here"))
    print_line(recipe.text)


def _default(name: str, settings: object) -> str:
    section, key = name.split(".")
    return str(getattr(getattr(settings, section), key))
