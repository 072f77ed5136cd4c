"""Objects that concurrent requests put and remove under one prefix."""

from concurrent.futures import ThreadPoolExecutor

from tests.contract.objects.conftest import Store

# Enough for a refused put in each run without the correction of versitygw (`docs/upstream`).
WRITERS, ROUNDS = 8, 60


def test_objects_are_put_while_others_of_their_prefix_are_removed(store: Store) -> None:
    """A store that keeps prefixes as folders must not remove a folder that a put needs."""

    def put_and_remove(writer: int) -> None:
        for number in range(ROUNDS):
            key = f"prefix/{writer}/{number}/object"
            written = store.objects.put(
                store.bucket, key, b"abc", content_type="text/plain", metadata={}
            )
            store.objects.delete_version(store.bucket, key, version_id=written.version_id)

    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(put_and_remove, range(WRITERS)))  # raises what a writer raised
    assert not store.objects.list_versions(store.bucket, "prefix/").versions
