"""Any L-statistic: a weighted sum of the records by rank."""
