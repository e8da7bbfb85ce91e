"""Chains as data sets: runs written out for others to train and test on, and sets of others read in as chains."""
