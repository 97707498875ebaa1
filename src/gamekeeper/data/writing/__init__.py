"""A changed file written as the original is: text, Parquet, SPSS, Stata. Begin with `microdata_file`.

The original is read again, cells that were changed are replaced, and all else stays as it is: columns that
nobody coded, labels, formats, weights. The same input and the same changes give the same bytes.
"""
