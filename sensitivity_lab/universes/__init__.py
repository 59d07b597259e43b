"""What datasets are drawn from: universes, neighbor relations, and datasets listed and counted."""
