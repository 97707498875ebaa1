"""Files of records as they lie on disk: text, Parquet, SPSS, Stata, SAS, frames. Begin with `source`."""
