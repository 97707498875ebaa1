"""`gamekeeper risk`: attack a file of microdata. Begin with `app`."""
