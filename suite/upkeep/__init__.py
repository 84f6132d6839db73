"""The project's own upkeep: pins, the README's excerpt, release days, costs."""
