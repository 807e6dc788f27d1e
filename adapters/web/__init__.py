"""The local page: see what agents do, decide what they propose (starlette, jinja2, htmx)."""
