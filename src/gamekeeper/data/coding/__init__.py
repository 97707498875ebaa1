"""From values to whole numbers with a codebook. Begin with `source_coding`, then `coded_table`."""
