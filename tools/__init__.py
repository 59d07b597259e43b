"""What the repository is maintained with: scripts, and the package `sweep`."""
