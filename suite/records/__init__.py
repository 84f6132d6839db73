"""Records: their keys, the valid records, the cells' statuses, and the archive."""
