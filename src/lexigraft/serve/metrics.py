"""What a server counts and times, for Prometheus."""

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

KIND = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Every server has its own, so that tests may have several in one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._requests = Counter("lexigraft_requests", "Requests answered", ("path", "status"), registry=self._registry)
        self._seconds = Histogram(
            "lexigraft_request_seconds", "From a request to its answer", ("path",), buckets=SECONDS,
            registry=self._registry,
        )  # fmt: skip
        self._in_flight = Gauge("lexigraft_requests_in_flight", "Requests not answered yet", registry=self._registry)
        self._waiting = Gauge(
            "lexigraft_work_begun", "Answers that wait for a thread or are worked out", registry=self._registry
        )
        self._refreshed = Gauge(
            "lexigraft_refreshed_systems", "Systems opened anew since the start", registry=self._registry
        )
        self._documents = Gauge("lexigraft_documents", "Documents of a system", ("system",), registry=self._registry)
        self._named: set[str] = set()  # systems that have such a series

    def begun(self) -> None:
        self._in_flight.inc()

    def ended(self, path: str, status: int, seconds: float) -> None:
        """`path` is one of the endpoints, or "other": clients must not make new series."""
        self._in_flight.dec()
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self, n_begun: int, n_refreshed: int, documents: dict[str, int]) -> bytes:
        """Everything as Prometheus reads it."""
        self._waiting.set(n_begun)
        self._refreshed.set(n_refreshed)
        for gone in self._named - documents.keys():
            self._documents.remove(gone)
        self._named = set(documents)
        for system, count in documents.items():
            self._documents.labels(system).set(count)
        return generate_latest(self._registry)
