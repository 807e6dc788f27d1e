"""Google's Gemini: its own protocol, through google-genai."""
