"""Issues of libraries beside the stack."""
