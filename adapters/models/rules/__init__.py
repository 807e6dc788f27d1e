"""The model that needs no key and no network: notes in, proposals and a report out."""
