"""OpenAI's GPT Image models through their library: `images.edit`, and the Responses API for sessions and reasoning."""
