"""The pages of the site: a module for each kind computes what its template renders. Pure."""
