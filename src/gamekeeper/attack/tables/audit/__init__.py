"""What published tables give away of the cells that they hide: begin with `auditing`."""
