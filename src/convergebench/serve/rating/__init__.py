"""Rating: a page on which people judge pictures, blind, with links instead of accounts, every answer kept at once."""
