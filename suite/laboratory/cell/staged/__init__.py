"""Issues that stage a change or a fault, for tests; no package of the stack is needed."""
