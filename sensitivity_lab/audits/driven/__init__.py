"""The driven generator: code runs on symbols for its draws, and its releases get exact laws."""
