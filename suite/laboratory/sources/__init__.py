"""What issues' modules and upstream's threads say."""
