"""The command line: parses, calls one function of one room, prints. Data to stdout, everything else to stderr."""
