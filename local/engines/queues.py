"""ElasticMQ: SQS with visibility, delay, FIFO queues, dead letters and redrive.

Messages, delays, receipt handles, queues, their attributes and tags survive a kill -9: the
messages storage holds the queues too. A message is on disk before it is acknowledged; a queue
and its changes some milliseconds after, so create queues again at each start (it changes
nothing where they are). Not there: MessageRetentionPeriod (ignored). A queue's URL
holds host and port, so a restart on another port changes it; its name and its ARN stay.
"""

import json
from pathlib import Path

from local.engines import jvm, layout
from local.engines.base import Options, Progress
from local.engines.java import prepare_java
from local.engines.ports import LOOPBACK, chosen_port
from local.engines.probe import answers
from local.engines.process import Running, launch, stop_leftovers
from local.engines.versions import ELASTICMQ


class ElasticMq:
    """The engine behind `queues`."""

    name = "queues"

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`."""
        prepare_java(tools, progress)
        layout.whole_folder(
            tools,
            _folder_name(),
            lambda folder: layout.fetch_locked(self.name, tools, progress, into=folder),
        )

    def start(
        self,
        tools: Path,
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """See `Engine.start`."""
        options = options or Options()
        lib = layout.prepared(tools / _folder_name(), self.name)
        stop_leftovers(data, name=self.name)
        port = chosen_port(port, name=self.name)
        files = data / self.name
        files.mkdir(parents=True, exist_ok=True)
        config = files / "elasticmq.conf"
        config.write_text(_config(files, port, options), encoding="utf-8")
        command = jvm.command(
            tools,
            lib,
            heap=["-Xmx256m"],
            options=[f"-Dconfig.file={config}"],
            lib=lib,
            main="org.elasticmq.server.Main",
        )
        return launch(
            name=self.name,
            command=command,
            environment={},
            data=data,
            log=log,
            port=port,
            probe=answers("/?Action=ListQueues&Version=2012-11-05"),
        )


def _config(files: Path, port: int, options: Options) -> str:
    """Return the configuration; a JSON value is a value of its format too.

    WRITE_DELAY=0: H2 would else hold back commits for half a second, and a kill then loses
    messages that were acknowledged (300 of 900 sent in the test that showed it).
    """
    storage = f"jdbc:h2:{files / 'messages'};WRITE_DELAY=0"
    return f"""include classpath("application.conf")
node-address {{ protocol = http, host = "{LOOPBACK}", port = {port}, context-path = "" }}
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


def _folder_name() -> str:
    return layout.jars_folder_name("queues", ELASTICMQ)
