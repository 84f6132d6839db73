"""What keeps this project itself in order: pins, the README's excerpt, release days, costs."""
