"""How results and sessions are spelled for people. Pure: values in, text out."""
