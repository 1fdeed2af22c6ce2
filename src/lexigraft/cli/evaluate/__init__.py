"""`evaluate`: the command, and the tables it prints."""
