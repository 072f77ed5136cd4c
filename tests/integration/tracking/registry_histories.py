"""Generated operations on registered models, versions and prompts."""

import random
from typing import Any

from mlflow.entities.model_registry import ModelVersionTag, RegisteredModelTag

Step = tuple[str, tuple[Any, ...]]

NAMES = ["one", "One", "two#2", "50%", "näme", "a b"]
ODD_NAMES = ["", " ", "a/b", "a:b", "..", ".", "日本😀", " one", "%23", "one#META", "none"]
TEXTS = ["", "a", "A", "a#b", "ünï", "50%", "a_b", "v" * 6_000]
KEYS = ["team", "Team", "x.y", "a#b", "mlflow.prompt.is_prompt"]
ODD_KEYS = ["bad?key", "", "../a", "k" * 251, "ключ"]
ALIASES = ["champion", "Champion", "Old", "a-b_c"]
ODD_ALIASES = ["latest", "v1", "a b", "", "ü", "x" * 256, "none"]
STAGES = ["Production", "staging", "Archived", "None", "nowhere", "PRODUCTION", ""]
SOURCES = [
    "s3://a", "", "models:/one/1", "models:/One/2", "models:/one@champion", "models:/one/Staging",
    "models:/one", "models:/", "runs:/x/model", "models:/a b/1",
]  # fmt: skip
PROMPT = "tags.`mlflow.prompt.is_prompt`"
LIKES = ["%n%", "O%", "%one", "On_", "%WO#2", "%äme%", "%", "", "%%", "_", "50\\%", "5_%"]
VALUES = ["one", "two#2", "a", "", "true", "ünï", "None", "%"]
LISTS = ["('one', 'a')", "('one')", "('run', 'One')", "()", "'one'", "(1, 2)"]
COMPARATORS = ["=", "!=", "LIKE", "ILIKE", "=", "like", ">", "<=", "IN", "NOT IN", "RLIKE"]
ORDERS = {
    "search_registered_models": ["name", "last_updated_timestamp", "timestamp", "bad",
                                 "creation_timestamp"],
    "search_model_versions": ["name", "version_number", "creation_timestamp",
                              "last_updated_timestamp", "bad", "run_id"],
}  # fmt: skip


class RegistryHistory:
    """Draws operations and searches, each the name of a method of a registry with arguments."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, choices: list[Any]) -> Any:
        return self.random.choice(choices)

    def _draw(self, usual: list[Any], odd: list[Any]) -> Any:
        return self.pick(odd if self.random.random() < 0.08 else usual)

    def _name(self) -> str:
        return self._draw(NAMES, ODD_NAMES)

    def _key(self) -> str:
        return self._draw(KEYS, ODD_KEYS)

    def _alias(self) -> str:
        return self._draw(ALIASES, ODD_ALIASES)

    def _version(self) -> Any:
        return self._draw([1, 1, 2, 3, "1", "2"], ["x", "", 0, -1, "01", 99])

    def operation(self) -> Step:
        name, version, key, alias = self._name(), self._version(), self._key(), self._alias()
        text = self.pick([*TEXTS, "true", None])
        value = self.pick([*TEXTS, "true", "True"])
        weighted: list[tuple[int, str, tuple[Any, ...]]] = [
            (8, "create_registered_model", (name, self._tags(RegisteredModelTag), text)),
            (12, "create_model_version", (
                name, self._draw(SOURCES[:1], SOURCES), self.pick([None, "run", "", "Run"]),
                self._tags(ModelVersionTag), self.pick([None, "link"]), text,
            )),
            (2, "update_registered_model", (name, text)),
            (3, "rename_registered_model", (name, self._name())),
            (2, "delete_registered_model", (name,)),
            (3, "set_registered_model_tag", (name, RegisteredModelTag(key, value))),
            (2, "delete_registered_model_tag", (name, key)),
            (5, "set_registered_model_alias", (name, alias, version)),
            (2, "delete_registered_model_alias", (name, alias)),
            (3, "update_model_version", (name, version, text)),
            (5, "transition_model_version_stage",
             (name, version, self.pick(STAGES), self.pick([True, False]))),
            (3, "delete_model_version", (name, version)),
            (4, "set_model_version_tag", (name, version, ModelVersionTag(key, value))),
            (2, "delete_model_version_tag", (name, version, key)),
            (3, "get_registered_model", (name,)),
            (3, "get_model_version", (name, version)),
            (3, "get_latest_versions",
             (name, self.pick([None, [], ["Production"], ["None", "staging"], ["bad"]]))),
            (3, "get_model_version_by_alias", (name, alias)),
            (1, "get_model_version_download_uri", (name, version)),
            (2, "copy_model_version", (name, version, self._name())),
            (8, *self._prompt(name, version, key, alias)),
        ]  # fmt: skip
        (chosen,) = self.random.choices(weighted, [weight for weight, *_ in weighted])
        return chosen[1], chosen[2]

    def _prompt(self, name: str, version: Any, key: str, alias: str) -> Step:
        text = self.pick(["", "Hello {{name}}", "v" * 6_000])
        tags = self.pick([None, {}, {"team": "a"}, {"a#b": ""}])
        return self.pick([
            ("create_prompt", (name, self.pick([None, "", "a"]), tags)),
            ("create_prompt", (name, None, tags)),
            ("create_prompt_version", (name, text, self.pick([None, "a"]), tags)),
            ("create_prompt_version", (name, text, None, None)),
            ("get_prompt", (name,)),
            ("get_prompt_version", (name, version)),
            ("get_prompt_version_by_alias", (name, alias)),
            ("delete_prompt", (name,)),
            ("delete_prompt_version", (name, version)),
            ("set_prompt_tag", (name, key, "a")),
            ("delete_prompt_tag", (name, key)),
            ("set_prompt_version_tag", (name, version, key, "a")),
            ("delete_prompt_version_tag", (name, version, key)),
            ("set_prompt_alias", (name, alias, version)),
            ("delete_prompt_alias", (name, alias)),
        ])  # fmt: skip

    def _tags(self, kind: type) -> list[Any] | None:
        count = self.pick([None, 0, 1, 1, 2, 3])
        if count is None:
            return None
        return [kind(self._key(), self.pick([*TEXTS, "true"])) for _ in range(count)]

    def search(self) -> tuple[str, dict[str, Any]]:
        """One search, whose pages the caller reads."""
        method = self.pick(["search_registered_models", "search_model_versions", "search_prompts"])
        versions = method == "search_model_versions"
        count = self.pick([0, 1, 1, 1, 2, 3])
        filters = [self._condition(versions=versions) for _ in range(count)]
        orders = ORDERS.get(method, ORDERS["search_registered_models"])
        return method, {
            "filter_string": " AND ".join(filters) if filters else self.pick([None, ""]),
            "max_results": self._draw([1, 2, 3, 100], [0, -1, -5, 1_001, 10_000, 1_000_000]),
            "order_by": self._order(orders),
            "page_token": self._draw([None], ["x", "", "eyJvZmZzZXQiOiAxfQ=="]),
        }

    def _condition(self, *, versions: bool) -> str:
        fields = ["name", "name", "tags.team", "tags.`a#b`", "tags.`x.y`", PROMPT, "tag.Team"]
        fields += ["attribute.name"]
        if versions:
            fields += ["run_id", "source_path", "run_id"]
            if self.random.random() < 0.2:
                value = self.pick(["1", "2", "1.5", "'x'", "'2'", "-1", "(1, 2)"])
                return f"version_number {self.pick(['=', '>', '<=', '!=', 'IN', 'LIKE'])} {value}"
        field = self._draw(fields, ["nothing", "params.x", "name.x", "creation_timestamp", "tags."])
        comparator = self._draw(COMPARATORS[:5], COMPARATORS)
        if "IN" in comparator or self.random.random() < 0.05:
            return f"{field} {comparator} {self.pick(LISTS)}"
        values = LIKES if "like" in comparator.lower() else VALUES
        return f"{field} {comparator} '{self.pick(values)}'"

    def _order(self, names: list[str]) -> list[str] | None:
        if self.random.random() < 0.3:
            return self.pick([None, []])
        usual = [name for name in names if name != "bad"]
        chosen = self.random.sample(usual, self.pick([1, 1, 2]))
        if self.random.random() < 0.08:
            chosen.append(self.pick(["bad", names[0], f"{names[0]} x", ""]))
        return [f"{name} {self.pick(['ASC', 'DESC', '', 'desc'])}".strip() for name in chosen]
