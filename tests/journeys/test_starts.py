"""Starts that must fail: each prints one clear line, and no traceback."""

import httpx

from tests.journeys.runtime import Runtime, run_local


def test_a_second_start_on_the_same_folder_is_one_clear_line(runtime: Runtime) -> None:
    again = run_local("up", "--state", str(runtime.state))
    assert again.returncode == 2
    assert "Traceback" not in again.stderr
    assert len(again.stderr.strip().splitlines()) == 1


def test_a_port_in_use_is_one_clear_line(runtime: Runtime, own_runtime: Runtime) -> None:
    port = httpx.URL(runtime.endpoint["api"]).port
    refused = run_local("up", "--state", str(own_runtime.state), "--port", str(port))
    assert refused.returncode == 1
    assert str(port) in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
