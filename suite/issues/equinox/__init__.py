"""Issues of Equinox."""
