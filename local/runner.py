"""One runtime from its start to its end: engines, deployment, gateway, pumps, in that order."""

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypedDict

from pydantic import JsonValue

from local.admin import NOTIFICATIONS, RESPONSES, TASKS, USER_POOLS, Board, admin_app
from local.assembly import Assembly, read_assembly
from local.clients import Clients, Credentials, Endpoints, connect
from local.deployment import deploy, engines_of, refuse_unknown_types
from local.edge import PROOF_SECRET, Edge
from local.endpoint_file import EndpointFile
from local.engine_room import EngineRoom
from local.engine_values import store_engine_values
from local.engines.base import Options
from local.engines.fleet import ENGINES
from local.errors import LocalError
from local.foreign import Guard
from local.function_process import InvocationResult
from local.functions import Functions
from local.gateway import Gateway
from local.iam.roles import Enforcement, Roles
from local.layers import install_layer, install_runtime
from local.links import Links
from local.plan import Plan
from local.proxy import Proxies
from local.pumps.activity import Activity
from local.pumps.bus import Bus
from local.pumps.drained import Drain
from local.pumps.journal import Journal
from local.pumps.objects import ObjectPump, watched_buckets
from local.pumps.queues import QueuePump
from local.pumps.schedules import SchedulePump
from local.pumps.streams import StreamPump
from local.pumps.supervisor import Supervisor
from local.resources.base import Context
from local.runtime_api import runtime_app
from local.servers import HttpServer, bind_any
from local.site import Site, Surroundings
from local.state import REPOSITORY, StateFolder, tools_folder
from local.states.executions import Executions
from local.states.tasks import Tasks
from local.synthesis import synthesize, with_defaults
from web_page import Page, build_page, built_page

_THREADS = 64  # all pumps may wait for an engine at the same time
_PROCESSES = int(os.environ.get("VITRINE_FUNCTION_PROCESSES", "48"))  # each has some 55 MB

_log = logging.getLogger(__name__)

Start = Callable[[str, Callable[[], Awaitable[None]]], None]


class _Common(TypedDict):
    """The common arguments of every pump of a mapping."""

    clients: Clients
    functions: Functions
    activity: Activity


@dataclass(frozen=True)
class Choices:
    """The options of the command line."""

    state: StateFolder
    gateway: HttpServer
    internal: HttpServer
    assembly: Path | None
    settings: Mapping[str, JsonValue]
    in_memory: bool
    record: bool
    iam: Enforcement
    build_page: bool
    progress: Callable[[str], None]


class Runtime:
    """All parts of a running runtime, for use in the event loop that created it."""

    def __init__(self, choices: Choices) -> None:
        """Store the options; nothing is started yet."""
        self._choices = choices
        self._tools = tools_folder()
        self._token = secrets.token_hex(32)
        self._private = f"{choices.internal.url}/{self._token}"
        self._options = Options(
            secret_key=choices.state.secret_key(),
            queues_path=secrets.token_hex(32),
            s3_webhook=self._private + NOTIFICATIONS,
            tasks=self._private + TASKS,
            durable=not choices.in_memory,
        )
        self._credentials = Credentials(self._options.access_key, self._options.secret_key)
        self._engines = EngineRoom(tools=self._tools, state=choices.state, options=self._options)
        self._supervisor = Supervisor()
        self._plan = Plan()
        self._page = Page(None)
        self._roles = Roles(choices.state.root / "iam", choices.iam)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator[EndpointFile]:
        """Start all parts, serve while the context is open, and stop them.

        Raises:
            LocalError: a resource of the deployment cannot be created.
            EngineError: an engine cannot be prepared or does not start.
        """
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(_THREADS, "runner"))
        async with contextlib.AsyncExitStack() as stack:
            functions = Functions(logs=self._choices.state.function_logs)
            board = Board(functions, self._engines, self._supervisor, self._token)
            # First, because the object store sends a test notification when it starts.
            await self._choices.internal.start(admin_app(board))
            stack.push_async_callback(self._choices.internal.stop)
            assembly, runtime = await self._prepare(stack)
            clients = connect(self._direct(), self._credentials)
            endpoints = await self._recorded(stack, board)
            processes = HttpServer(*(bind_any() for _ in range(_PROCESSES)))
            await processes.start(runtime_app(functions))
            stack.push_async_callback(processes.stop)
            functions.begin(
                ports=processes.ports,
                environment={
                    **endpoints.environment(),
                    "AWS_ENDPOINT_URL_COGNITO_KEYS": self._choices.internal.url + USER_POOLS,
                    "AWS_ENDPOINT_URL_LAMBDA": board.calls_url(self._choices.internal.url),
                    "AWS_ACCESS_KEY_ID": self._credentials.access_key,
                    "AWS_SECRET_ACCESS_KEY": self._credentials.secret_key,
                },
                runtime=runtime,
                policies=lambda spec: self._roles.document(spec.name, spec.role),
                box=self._choices.iam.box,
            )
            stack.push_async_callback(functions.stop)
            await self._deploy(assembly, clients, functions, board)
            await self._start_pumps(stack, clients, functions, board)
            await self._start_gateway(stack, functions, clients, endpoints)
            yield self._endpoint_file(clients)

    async def _prepare(self, stack: contextlib.AsyncExitStack) -> tuple[Assembly, Path]:
        """Start the engines, render the assembly and install the runtime's packages in parallel."""
        choices = self._choices
        # the engines of the product, which start during the synthesis
        names: Collection[str] = ENGINES
        if choices.assembly is not None:  # it is checked before anything is started
            names = engines_of(await asyncio.to_thread(self._read_assembly))
        installing = asyncio.create_task(
            asyncio.to_thread(
                install_runtime,
                REPOSITORY / "requirements.txt",
                self._tools.parent / "runtime",
                choices.progress,
            )
        )
        rendering = asyncio.create_task(asyncio.to_thread(self._read_assembly))
        find: Callable[[], Page] = partial(built_page, self._tools.parent / "page")
        if choices.build_page:
            find = partial(build_page, self._tools.parent / "page", choices.progress)
        building = asyncio.create_task(asyncio.to_thread(find))
        starting = asyncio.create_task(
            asyncio.to_thread(self._engines.start_all, names, choices.progress)
        )
        stack.push_async_callback(asyncio.to_thread, self._engines.stop_all)
        # All end before the first failure is raised, so that nothing is left half started.
        done = await asyncio.gather(
            installing, rendering, building, starting, return_exceptions=True
        )
        for result in done:
            if isinstance(result, BaseException):
                raise result
        self._page = building.result()
        return rendering.result(), installing.result()

    def _read_assembly(self) -> Assembly:
        folder = self._choices.assembly
        if folder is None:
            settings = with_defaults(
                self._choices.settings,
                url=self._choices.gateway.url,
                page=self._choices.build_page,
            )
            folder = synthesize(self._choices.state.assembly, settings)
            self._choices.progress("templates synthesized")
        assembly = read_assembly(folder)
        refuse_unknown_types(assembly)
        return assembly

    def _direct(self) -> Endpoints:
        return Endpoints(
            dynamodb=self._engines.url("dynamodb"),
            s3=self._engines.url("s3"),
            sqs=self._engines.url("queues"),
            opensearch=self._engines.url("opensearch"),
            states=self._engines.url("states"),
            others=self._engines.url("aws"),
        )

    async def _recorded(self, stack: contextlib.AsyncExitStack, board: Board) -> Endpoints:
        """Return the functions' endpoints: the engines, or the proxies before them."""
        direct = self._direct()
        if not self._choices.record:
            return direct
        proxies = Proxies(self._plan.web_origins)
        board.proxies = proxies
        stack.push_async_callback(proxies.stop)
        return Endpoints(
            dynamodb=await proxies.before("dynamodb", direct.dynamodb),
            s3=await proxies.before("s3", direct.s3),
            sqs=await proxies.before("sqs", direct.sqs),
            opensearch=await proxies.before("opensearch", direct.opensearch),
            states=direct.states,
            others=direct.others,
        )

    async def _deploy(
        self, assembly: Assembly, clients: Clients, functions: Functions, board: Board
    ) -> None:
        loop = asyncio.get_running_loop()
        choices = self._choices

        def invoke(function: str, event: Mapping[str, JsonValue]) -> InvocationResult:
            return asyncio.run_coroutine_threadsafe(
                functions.invoke(function, event), loop
            ).result()

        context = Context(
            clients=clients,
            state=choices.state,
            plan=self._plan,
            roles=self._roles,
            assets=assembly.assets,
            install_layer=lambda requirements: install_layer(
                requirements, self._tools.parent / "layer", choices.progress
            ),
            register=functions.register,
            role_of=lambda reference: functions.spec(reference).role,
            invoke=invoke,
            response_url=lambda request: f"{self._private}{RESPONSES}/{request}",
            response=board.responses.take,
            search_endpoint=self._engines.url("opensearch").removeprefix("http://"),
            api_url=choices.gateway.url,
            progress=choices.progress,
        )
        await asyncio.to_thread(deploy, assembly, context)
        self._roles.record_granted_permissions()
        for fresh in context.fresh:
            _log.info("created %s", fresh)

    async def _start_gateway(
        self,
        stack: contextlib.AsyncExitStack,
        functions: Functions,
        clients: Clients,
        endpoints: Endpoints,
    ) -> None:
        api = self._plan.http_api()
        if api is None:
            return
        gateway = Gateway(api, functions)
        # By this secret, functions recognise the requests of the gateway.
        environments = (functions.spec(a.function).environment for a in api.authorizers.values())
        secret = next((e[PROOF_SECRET] for e in environments if PROOF_SECRET in e), None)
        proof = ""
        if secret is not None:
            proof = clients.secrets.get_secret_value(SecretId=secret)["SecretString"]
        around = Surroundings(
            edge=Edge(self._choices.gateway.url, proof),
            buckets=(endpoints.s3,),
            key=lambda: self._admin_key(clients),
            configuration=lambda: gateway.get("/api/amplify-config", self._choices.gateway.url),
        )
        site = Site(gateway, self._page, Links(self._choices.state), around)
        guard = Guard(self._plan.web_origins, linked=True)
        await self._choices.gateway.start(site, guard)
        stack.push_async_callback(self._choices.gateway.stop)

    async def _start_pumps(
        self, stack: contextlib.AsyncExitStack, clients: Clients, functions: Functions, board: Board
    ) -> None:
        journal = Journal(self._choices.state.journal)
        stack.callback(journal.close)
        activity = Activity()
        bus = await asyncio.to_thread(Bus, self._plan, clients, functions)
        common: _Common = {
            "clients": clients,
            "functions": functions,
            "activity": activity,
        }
        plan = self._plan
        streams = [
            StreamPump(mapping, **common, journal=journal, plan=plan) for mapping in plan.streams
        ]
        start = self._supervisor.start
        stack.push_async_callback(self._supervisor.stop)
        for stream in streams:
            start(f"stream {stream.mapping.function} {stream.mapping.id[:8]}", stream.run)
        for mapping in plan.queue_mappings:
            queue = plan.queues[mapping.queue_arn]
            pump = QueuePump(mapping, queue, **common)
            start(f"queue {queue.name} {mapping.id[:8]}", pump.run)
        for rule in plan.rules:
            if rule.schedule is not None:
                schedule = SchedulePump(rule, bus=bus, journal=journal, activity=activity)
                start(f"schedule {rule.id[:8]}", schedule.run)
        watched = watched_buckets(plan)
        if watched:
            board.objects = ObjectPump(
                watched, clients=clients, bus=bus, journal=journal, activity=activity
            )
            start("objects", board.objects.run)
        executions = Executions(self._choices.state, bus, activity)
        board.tasks = self._tasks(clients, functions, bus, activity, executions)
        start("executions", executions.report_lost)
        start("engines", self._engines.supervise)
        kept = (self._choices.state, clients, plan, self._engines, self._supervisor, executions)
        stack.push_async_callback(store_engine_values(*kept))
        search = self._engines.own_url("opensearch")
        board.drain = Drain(plan, clients, activity, streams, board.objects, executions, search)

    def _tasks(
        self,
        clients: Clients,
        functions: Functions,
        bus: Bus,
        activity: Activity,
        executions: Executions,
    ) -> Tasks:
        return Tasks(
            functions=functions,
            clients=clients,
            bus=bus,
            roles=self._roles,
            activity=activity,
            executions=executions,
        )

    @property
    def page(self) -> Page:
        """The page that is served, or the reason why there is none."""
        return self._page

    def _admin_key(self, clients: Clients) -> str:
        secret = self._plan.outputs.get("AdminApiKeySecret")
        if not isinstance(secret, str):
            return ""
        return clients.secrets.get_secret_value(SecretId=secret)["SecretString"]

    def _endpoint_file(self, clients: Clients) -> EndpointFile:
        endpoint: EndpointFile = {
            "api": self._choices.gateway.url,
            "adminApiKey": self._admin_key(clients),
            "opensearch": self._engines.own_url("opensearch"),
            "dynamodb": self._engines.own_url("dynamodb"),
            "s3": self._engines.own_url("s3"),
            "states": self._engines.own_url("states"),
            "aws": self._engines.own_url("aws"),
            "admin": self._choices.internal.url,
            "adminToken": self._token,
            "accessKey": self._credentials.access_key,
            "secretKey": self._credentials.secret_key,
            "pid": os.getpid(),
        }
        feed = self._plan.outputs.get("EventFeedUrl")
        if isinstance(feed, str):
            account, name = feed.rsplit("/", 2)[1:]
            endpoint["eventFeed"] = f"{self._engines.own_url('queues')}/{account}/{name}"
        table, artifacts = map(self._plan.outputs.get, ("TrackingTableName", "TrackingArtifacts"))
        if isinstance(table, str) and isinstance(artifacts, str):
            endpoint["trackingTable"], endpoint["trackingArtifacts"] = table, artifacts
        return endpoint


def refuse_kept_data(state: StateFolder) -> None:
    """Reject a state folder with persistent data for a runtime that persists nothing.

    Raises:
        LocalError: the folder has such data.
    """
    if state.data.exists() and not state.in_memory_marker_path.exists():
        raise LocalError(
            f"{state.root} holds data that is kept; use another --state with --in-memory"
        )
