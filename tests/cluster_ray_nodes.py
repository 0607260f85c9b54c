"""A Ray cluster of several nodes on this machine, as long as standard input is open; the first line is its address."""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(int(sys.argv[1])):
        cluster.add_node(num_cpus=1)
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
