"""The issues as read: entries with their sources."""
