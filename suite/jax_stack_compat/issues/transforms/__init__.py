"""Issues of jit, grad, vmap, tracing and callbacks."""
