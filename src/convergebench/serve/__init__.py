"""Web pages of this computer: people rate pictures on one, and runs are viewed on the other."""
