"""The command `aw`: parse, call, print, exit. No rule lives here."""
