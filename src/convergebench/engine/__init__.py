"""Runs chains: every step of a study is answered from the journal, or by a call that is retried, paced and paid for."""
