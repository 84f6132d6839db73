"""The report: assembled from records, then shown and written."""
