"""Defences against hostile files, names and pages, and known vulnerabilities of dependencies."""
