"""Two runs compared: the sentence, the terminal's tables, the page."""
