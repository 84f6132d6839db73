"""The names of a package: what a release of it has, asked of that release. Outside the probe's hash."""
