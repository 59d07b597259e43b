"""Any query, each distinct dataset evaluated once."""
