"""The table of models, by provider: what each is called, what it can do, what it costs, until when it lives."""
