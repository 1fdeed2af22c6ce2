"""Programs that travel with an exported model and run where Lexigraft is not installed: copied as they stand."""
