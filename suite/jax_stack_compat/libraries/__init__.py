"""Libraries on JAX: which releases of them work beside which release of the stack."""
