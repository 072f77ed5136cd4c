"""Which URLs name a queue."""

import pytest

from backend.core.queue_urls import QueuePlace, queue_place

AWS = "https://sqs.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (f"{AWS}/123456789012/work", QueuePlace("eu-west-1", "123456789012", "work")),
        ("http://127.0.0.1:9324/123456789012/work", QueuePlace(None, "123456789012", "work")),
        ("http://localhost:1/a-path/123456789012/work", QueuePlace(None, "123456789012", "work")),
        (f"{AWS}/a-path/123456789012/work", None),
        ("http://localhost:1/a/path/123456789012/work", None),
        ("http://127.0.0.1:9324/work", None),
        (f"{AWS}.evil.example/123456789012/work", None),
        ("http://127.0.0.1.evil.example/123456789012/work", None),
        ("http://[", None),
    ],
)
def test_a_queue_is_named_by_its_host_and_the_end_of_its_path(
    url: str, place: QueuePlace | None
) -> None:
    assert queue_place(url) == place
