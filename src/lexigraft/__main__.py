"""`python -m lexigraft`."""

from lexigraft.cli.app import main

main()
