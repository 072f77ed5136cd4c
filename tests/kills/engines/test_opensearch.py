"""Writes that OpenSearch acknowledged survive a kill -9."""

from tests.integration.local.engines.support import Site
from tests.integration.local.engines.test_opensearch import Server, document, index_ten

ENGINE = "opensearch"


def test_every_acknowledged_document_and_version_survives_a_crash(site: Site) -> None:
    before = Server(site.running.endpoint.url)
    index_ten(before, "durable")
    before.send(
        "PUT", "/durable/_doc/unrefreshed?version=3&version_type=external", document(50), expect=201
    )
    before.send("DELETE", "/durable/_doc/0?version=12&version_type=external")
    before.close()
    site.crash_and_restart()
    after = Server(site.running.endpoint.url)
    after.send("POST", "/durable/_refresh")
    found = after.find("durable", query={"match_all": {}}, size=20)
    assert set(found) == {"1", "2", "3", "4", "5", "6", "7", "8", "9", "unrefreshed"}
    stale = {"index": {"_id": "1", "version": 10, "version_type": "external"}}
    assert after.bulk("durable", (stale, document(1))) == [409]
    after.close()
