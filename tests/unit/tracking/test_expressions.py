"""Values as DynamoDB represents them come back, also from clients that leave base64."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from vitrine_mlflow.expressions import deserialize, serialize


@given(st.binary())
def test_binary_values_come_back_as_bytes_or_base64(value: bytes) -> None:
    assert deserialize(serialize(value)) == value
    assert deserialize({"B": base64.b64encode(value).decode()}) == value
