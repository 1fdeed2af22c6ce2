"""A server that is told to stop."""

from lexigraft.serve.access import access_for
from lexigraft.serve.catalogue import Shelf
from lexigraft.serve.service import STOPPING, Service


def test_a_stop_is_not_forgotten_when_the_systems_are_open(run):
    """They may be open just after it was asked for."""
    service = Service(access_for("127.0.0.1"))
    service.stop()
    service.begin(Shelf([run], 1))
    assert service.status == STOPPING
    service.close()
