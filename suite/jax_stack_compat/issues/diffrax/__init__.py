"""Issues of Diffrax, Lineax and Optimistix."""
