"""`python -m lexigraft`."""

from lexigraft.cli.app import main

if __name__ == "__main__":  # processes that help with counting import this module too
    main()
