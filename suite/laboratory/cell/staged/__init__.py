"""Issues that stage a change or a fault, for tests; only `elsewhere` needs a package of the stack."""
