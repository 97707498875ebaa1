"""A store on a PostgreSQL server: connections, schemas, what it refuses, and who is told of edits.

Begin with `access`. The driver, psycopg, is imported when a server is first asked for: it comes with
`gamekeeper[postgres]`.
"""
