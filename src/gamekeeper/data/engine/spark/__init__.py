"""The engine gate on a cluster of Spark. Begin with `spark_engine`.

Nothing here loads Spark before a cluster is asked for. `working` and `probing` are what runs on
workers.
"""
