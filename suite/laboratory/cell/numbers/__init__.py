"""The numbers of a release: what its functions return for fixed inputs. Outside the probe's hash."""
