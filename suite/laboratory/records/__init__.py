"""Records: their keys, the valid records, the work left without one, the cells' statuses, and the archive."""
