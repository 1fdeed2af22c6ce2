"""PISA's compiled module; importing this tries whether it can be loaded."""

from lexigraft.export.pisa_binding import load

MODULE = load()
