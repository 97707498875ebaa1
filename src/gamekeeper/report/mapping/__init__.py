"""The page of an analysis of key variables, and what it says in sentences. Begin with `mapping_report`."""
