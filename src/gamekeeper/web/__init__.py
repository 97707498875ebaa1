"""The workbench in the browser: a server over the functions of `workbench`. Begin with `app`."""
