"""ElasticMQ: SQS with visibility, delay, FIFO queues, dead letters and redrive.

Messages, delays, receipt handles, queues, their attributes and tags survive a kill -9: the message
store contains the queues too. A message is on disk before it is acknowledged, a queue and its
changes some milliseconds later. So create queues again at each start; this changes nothing if they
exist. The server responds a moment before it has restored its queues, and queues a moment before
their messages.

MessageRetentionPeriod has no effect. A queue's URL contains host and port, so a restart on another
port changes it; its name and its ARN do not change.
"""

import json
from pathlib import Path

from local.engines import jvm
from local.engines.base import Options
from local.engines.engine import JarEngine, Start
from local.engines.ports import LOOPBACK
from local.engines.probe import responds
from local.engines.versions import ELASTICMQ


class ElasticMq(JarEngine):
    """The engine behind `queues`."""

    name = "queues"
    version = ELASTICMQ
    probe = staticmethod(responds("/?Action=ListQueues&Version=2012-11-05"))

    def path(self, options: Options) -> str:
        """See `JarEngine.path`."""
        return options.queues_path and f"/{options.queues_path}"

    def command(self, start: Start) -> list[str]:
        """See `JarEngine.command`."""
        config = start.files / "elasticmq.conf"
        config.write_text(_config(start.files, start.port, start.options), encoding="utf-8")
        return jvm.command(
            start.tools,
            start.home,
            heap=["-Xmx256m"],
            options=[f"-Dconfig.file={config}"],
            lib=start.home,
            main="org.elasticmq.server.Main",
        )


def _config(files: Path, port: int, options: Options) -> str:
    """Return the configuration; a JSON value is also a value of its format."""
    path = json.dumps(options.queues_path)
    # WRITE_DELAY=0: otherwise H2 delays commits by half a second, and a kill loses messages that
    # were acknowledged (300 of 900 in the test that showed it).
    storage = f"jdbc:h2:{files / 'messages'};WRITE_DELAY=0"
    return f"""include classpath("application.conf")
node-address {{ protocol = http, host = "{LOOPBACK}", port = {port}, context-path = {path} }}
rest-sqs {{
  enabled = true, bind-hostname = "{LOOPBACK}", bind-port = {port}, sqs-limits = strict
}}
rest-stats {{ enabled = false }}
aws {{ region = {json.dumps(options.region)}, accountId = {json.dumps(options.account)} }}
messages-storage {{
  enabled = {json.dumps(options.durable)}
  driver-class = "org.h2.Driver"
  uri = {json.dumps(storage)}
  username = "sa"
  password = ""
}}
"""
