"""Graders, one file per family of related measurements."""
