"""Models behind an address that speaks OpenAI's protocol: chat completions with tools."""
