"""Cases that are run in an interpreter of the user, or with an unreleased package."""
