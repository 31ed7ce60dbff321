"""The only room that runs code of a workflow, each script in a process of its own."""
