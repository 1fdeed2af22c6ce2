"""The options of commands that can be done by shards: in how many, and by whom."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.shards.running import Where

ShardsOption = Annotated[
    int | None,
    typer.Option(
        "--shards",
        help="Do it in so many parts, each written whole and once, and join them: the same bytes. A stop or a lost "
        "process costs the parts that were at work.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", help="How many shards this machine makes at a time; one a core where not given."),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Let a Ray cluster make the shards, whose machines all see these folders: HOST:PORT or ray://HOST:PORT, "
        "'auto' for the one that this machine is in, 'local' for one of this machine alone.",
    ),
]
RayCpusOption = Annotated[int | None, typer.Option("--ray-cpus", help="Cores of a shard on a cluster; 1.")]
RayGpusOption = Annotated[
    float | None, typer.Option("--ray-gpus", help="GPUs of a shard on a cluster, such as 1 or 0.5; none.")
]


@dataclass(frozen=True)
class ShardOptions:
    """In how many shards a command does its work, and who makes them."""

    shards: ShardsOption = None
    workers: WorkersOption = None
    ray: RayOption = None
    ray_cpus: RayCpusOption = None
    ray_gpus: RayGpusOption = None

    def where(self, keep: bool = False) -> "Where | None":
        """None where the work is not to be done by shards."""
        from lexigraft.shards.running import Where

        of_ray = {"--ray-cpus": self.ray_cpus, "--ray-gpus": self.ray_gpus}
        others = {"--workers": self.workers, "--ray": self.ray, **of_ray}
        if self.shards is None:
            if given := [name for name, value in others.items() if value is not None] + ["--keep-shards"] * keep:
                raise SettingError(f"{given[0]} is for work by shards; give --shards N, too")
            return None
        if self.ray is None and (given := [name for name, value in of_ray.items() if value is not None]):
            raise SettingError(f"{given[0]} is for a Ray cluster; give --ray ADDRESS, too")
        if self.ray == "":
            raise SettingError("--ray is empty; give local, auto, HOST:PORT or ray://HOST:PORT")
        where = Where(
            self.shards, self.workers or 0, self.ray or "", 1 if self.ray_cpus is None else self.ray_cpus,
            self.ray_gpus or 0.0, keep,
        )  # fmt: skip
        where.require_ready()
        return where
