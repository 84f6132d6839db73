"""What makes and publishes the knowledge; it is never installed."""
