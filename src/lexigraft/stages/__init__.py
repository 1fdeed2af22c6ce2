"""What a run is made of: its folders, its rule of resuming, and one stage a file."""
