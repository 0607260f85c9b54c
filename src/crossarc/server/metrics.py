"""What the service has done so far, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter

__all__ = ["Metrics"]


class Metrics:
    """Counts requests."""

    def __init__(self) -> None:
        self.replies: Counter[int] = Counter()  # by status
        self.left = 0  # clients that went away before their reply
        self.running = 0  # requests in progress
        self.seconds = 0.0  # of all requests together

    def text(self, **gauges: int) -> str:
        """The numbers; ``gauges`` are others, as they are now.

        >>> print(Metrics().text(workers=2), end="")
        # TYPE crossarc_clients_left_total counter
        crossarc_clients_left_total 0
        # TYPE crossarc_request_seconds_total counter
        crossarc_request_seconds_total 0.000
        # TYPE crossarc_requests_running gauge
        crossarc_requests_running 0
        # TYPE crossarc_workers gauge
        crossarc_workers 2
        """
        lines = []
        if self.replies:
            lines.append("# TYPE crossarc_replies_total counter")
            lines += [f'crossarc_replies_total{{status="{code}"}} {n}' for code, n in sorted(self.replies.items())]
        lines += _lines("clients_left_total", "counter", str(self.left))
        lines += _lines("request_seconds_total", "counter", f"{self.seconds:.3f}")
        lines += _lines("requests_running", "gauge", str(self.running))
        for name, value in gauges.items():
            lines += _lines(name, "counter" if name.endswith("_total") else "gauge", str(value))
        return "\n".join(lines) + "\n"


def _lines(name: str, kind: str, value: str) -> list[str]:
    return [f"# TYPE crossarc_{name} {kind}", f"crossarc_{name} {value}"]
