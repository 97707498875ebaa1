"""A server that runs: the store it holds (`server`), who asks (`access`), what goes on beside requests."""
