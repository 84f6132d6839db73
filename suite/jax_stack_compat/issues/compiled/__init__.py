"""Issues of what XLA compiles: values, memory, flags."""
