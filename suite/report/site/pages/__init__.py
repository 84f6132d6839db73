"""The pages of the site, a module for each kind: what its template shows of a report's facts. Pure."""
