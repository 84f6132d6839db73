"""Records: their keys, the records in force, the cells' statuses, and the archive."""
