"""What a factory run found: what was accepted, how far the judge can be trusted, what the data are made of."""
