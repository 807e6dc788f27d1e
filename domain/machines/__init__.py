"""The machines of a home: what each is called, which one leads, which are gone for good."""
