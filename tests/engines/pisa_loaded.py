"""PISA's compiled module; importing this tries whether it can be loaded."""

from lexigraft.export.lists.pisa_binding import load

MODULE = load()
