"""A collection's own words on a dense encoder's vectors, in closed form: documents borrow words from neighbours and
from a regression."""
