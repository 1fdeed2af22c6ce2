"""`model`, its commands, and those that train a model stage by stage."""
