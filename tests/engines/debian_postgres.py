"""Debian's PostgreSQL 17 with pgvector and postgres_fdw, in a folder: what the wheels of PostgreSQL lack for shards.

    python -m tests.engines.debian_postgres FOLDER

Its packages and what they depend on are fetched by this machine's apt, from the mirror that it uses, compared with
Debian's signature, and unpacked; nothing of them is run, and nothing of this machine changes. What is there already is
kept. Its servers run by chroot, so that this needs root.
"""

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

RELEASE = "trixie"
PACKAGES = ("postgresql-17-pgvector", "dash")  # initdb starts programs by a shell
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MERGED = ("bin", "sbin", "lib", "lib64")  # links into usr, which an installation would make
DEVICES = {"null": (1, 3), "urandom": (1, 9)}
FOLDER = Path(__file__).parents[2] / ".cache" / "debian-postgres"


class CannotBeMadeError(Exception):
    """For a reason that lies in this machine, in a line."""


def made_root(folder: Path = FOLDER) -> Path:
    """The folder, made where it is not there; raises `CannotBeMadeError` where this machine has not what that takes."""
    if os.geteuid() != 0:
        raise CannotBeMadeError("chroot needs root")
    if folder.exists():
        return folder
    for program in ("apt-get", "dpkg-deb", "chroot"):
        if shutil.which(program) is None:
            raise CannotBeMadeError(f"there is no {program}")
    if not KEYRING.exists():
        raise CannotBeMadeError(f"there is no {KEYRING} (package debian-archive-keyring)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        _unpack(_fetched(draft / "apt"), draft / "root")
        (draft / "root").rename(folder)  # whole, or absent
    finally:
        shutil.rmtree(draft)
    return folder


def _fetched(folder: Path) -> list[Path]:
    """The packages' files. To this apt, nothing is installed."""
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "apt.conf.d").mkdir()
    architecture = _output("dpkg", "--print-architecture")
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {RELEASE} main\n")
    told = {
        "Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "-", "Dir::State": folder,
        "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status", "Dir::Cache": folder / "cache",
        "Dir::Cache::archives": folder / "cache" / "archives", "Dir::Etc::Preferences": "-",
        "Dir::Etc::PreferencesParts": "-", "APT::Architecture": architecture, "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root", "Debug::NoLocking": "true", "APT::Keep-Downloaded-Packages": "true",
    }  # fmt: skip
    options = [part for name, value in told.items() for part in ("-o", f"{name}={value}")]
    for command in (["update"], ["install", "--download-only", *PACKAGES]):
        done = subprocess.run(["apt-get", "-q", "-y", *options, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise CannotBeMadeError(f"apt-get {command[0]} of Debian's {RELEASE} said: {last}")
    return sorted((folder / "cache" / "archives").glob("*.deb"))


def _mirror() -> str:
    """Where this machine has its own packages of Debian from."""
    lines = _output("apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)", "Created-By: Packages").splitlines()
    found = [line.partition("|")[2] for line in lines if line.startswith("Debian|")]
    if not found:
        raise CannotBeMadeError("this machine's apt knows no mirror of Debian; run apt-get update on a Debian")
    return next((uri for uri in found if "security" not in uri), found[0])


def _unpack(files: list[Path], root: Path) -> None:
    root.mkdir(mode=0o755)
    for file in files:
        subprocess.run(["dpkg-deb", "-x", file, root], check=True)
    root.chmod(0o755)
    for name in MERGED:
        if not (root / name).exists():
            (root / name).symlink_to(Path("usr") / name)
    for name in ("tmp", "dev/shm"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name).chmod(0o1777)
    nobody = pwd.getpwnam("nobody")  # initdb asks who it runs as
    (root / "etc" / "passwd").write_text(f"nobody:x:{nobody.pw_uid}:{nobody.pw_gid}::/tmp:/bin/sh\n")
    for name, numbers in DEVICES.items():
        try:
            os.mknod(root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(*numbers))
        except PermissionError as error:
            raise CannotBeMadeError(f"no device can be made here ({error.strerror})") from error
        (root / "dev" / name).chmod(0o666)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{made_root(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)}\n")
    except CannotBeMadeError as cannot:
        sys.exit(f"cannot be made: {cannot}")
