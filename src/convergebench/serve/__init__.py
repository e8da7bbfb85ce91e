"""The web page on which people rate pictures: blind, with links instead of accounts, every answer kept at once."""
