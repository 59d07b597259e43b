"""The pictures of the documentation, each drawn from what the library computes."""
