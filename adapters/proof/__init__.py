"""Proofs of what was recorded: prove, anchors, histories and their redaction."""
