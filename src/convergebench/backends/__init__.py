"""Backends: where editors and metrics of a run are carried out, on this machine or on those of a Ray cluster."""
