"""The project's own upkeep: pins, generated blocks of documents, release days, costs."""
