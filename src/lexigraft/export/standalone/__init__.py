"""Programs that travel with an exported model and run where Lexigraft is not installed: they are copied as they stand."""
