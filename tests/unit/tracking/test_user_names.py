"""Names of users of the tracking server that people cannot distinguish are refused."""

from collections.abc import Callable

from mlflow.exceptions import MlflowException
from vitrine_mlflow.invisible import check_visible as check_name

from backend.core.invisible import check_visible


def test_users_of_the_tracking_server_have_the_same_invisible_characters() -> None:
    def refuses(check: Callable[[str], object], char: str) -> bool:
        try:
            check(f"a{char}b")
            check(f"ab{char}")
        except (ValueError, MlflowException):
            return True
        return False

    def of_tracking(name: str) -> None:
        check_name(name, "Username")

    differing = [
        f"U+{code:04X}"
        for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000))
        if refuses(check_visible, chr(code)) != refuses(of_tracking, chr(code))
    ]
    assert not differing
