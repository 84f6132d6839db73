"""Issues of devices, memories and sharding."""
