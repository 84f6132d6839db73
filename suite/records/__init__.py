"""Records: their keys, the records in force, the work left without one, the cells' statuses, and the archive."""
