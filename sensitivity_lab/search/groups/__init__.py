"""A query on the rows of each group: the changed rows split over the groups."""
