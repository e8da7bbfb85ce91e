"""The sections of a factory's page."""
