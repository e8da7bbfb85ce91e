"""The products of the study `factory`: examples, preference pairs and sessions, ready to train on."""
