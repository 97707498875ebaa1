"""All that is known of the risk of a file, put together and judged. Begin with `measured`."""
