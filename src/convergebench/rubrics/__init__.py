"""Rubrics: questions about pictures and the format of their replies. Roles answer them."""
