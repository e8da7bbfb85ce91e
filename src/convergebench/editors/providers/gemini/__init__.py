"""Google's Gemini image models, known as Nano Banana, through google-genai."""

from __future__ import annotations

from convergebench.editors.providers.gemini.editor import GeminiEditor

__all__ = ["GeminiEditor"]
