"""Grading on the machines of a Dask cluster, which distributes as it is.

`cluster` is the side of the one who asks, `worker` what runs on each of the machines, and
`messages` what travels between them.
"""

from mha_judge.cluster.cluster import Cluster

__all__ = ["Cluster"]
