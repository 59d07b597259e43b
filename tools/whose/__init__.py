"""What other libraries compute under the names of statistics, measured: see `make_whose.py`."""
