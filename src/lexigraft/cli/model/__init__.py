"""`model ...`, and the commands that train one."""
