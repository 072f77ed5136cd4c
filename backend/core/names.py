"""The rules for ids, names and paths, as types that models use.

Ids contain neither `#` nor `:`, so they need no escaping in a composite key. All text must be valid
Unicode. Descriptions and comments may contain line breaks and tabs, but no other control
characters; names and paths contain none, and must be in NFC, so that one name has one spelling.
"""

import re
import unicodedata
from typing import Annotated, Any, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from backend.core.invisible import BLANKS, check_new_name, check_visible
from backend.core.quoting import quoted
from backend.values import frozen

_ID = re.compile(r"[-_a-zA-Z0-9]{3,63}")
_USER_ID = re.compile(r"[\w\-.+@]{3,256}")
_OBJECT_NAME = re.compile(r"[a-zA-Z0-9\-._ ]{1,256}")
_EXTENSION = re.compile(r"\.[a-zA-Z0-9]{1,16}")
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
"""Control characters except tab and line ends, for regular expressions. U+0085 is a line end."""
_HAS_CONTROLS = re.compile(f"[{_CONTROLS}]")
_EMAIL = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}"
)
# RFC 5321 limits a path to 256 characters, including its angle brackets.
MAX_EMAIL_CHARS = 254
# The contract's limit; file systems, such as that of the local object store, allow 255 bytes.
MAX_NAME_CHARS = 255
# S3's limit of a key, in bytes of UTF-8 (S3 User Guide, "Naming Amazon S3 objects").
MAX_KEY_BYTES = 1024
# Maximum length of a list of extensions, about 400 of them. An upload with a thousand invalid files
# repeats the list in each error.
MAX_EXTENSION_LIST_CHARS = 2048
ALL_EXTENSIONS = ".all"
"""The extension that matches files with any extension, in lists of extensions."""


@frozen
class NameRule:
    """Characters that a name must not contain, as a regular expression of Python and JavaScript.

    `fact` is the message of a refusal, in which `{found}` is replaced by the text that was found.
    """

    pattern: str
    fact: str

    def check(self, name: str) -> None:
        """Raise a ValueError if the name breaks the rule."""
        matches = sorted(set(re.findall(self.pattern, name)))
        if matches:
            raise ValueError(self.fact.format(found=" ".join(matches)))


NAME_RULES = (
    NameRule(
        rf"^(?:|[\s\S]{{{MAX_NAME_CHARS + 1},}})$", f"must have 1 to {MAX_NAME_CHARS} characters"
    ),
    NameRule(r'[<>:"/\\|?*]', "must not contain {found}"),
    NameRule(r"[\x00-\x1f\x7f-\x9f]", "must not contain control characters"),
    NameRule(r"[. ]$", "must not end with a dot or a space"),
)
"""The rules of the names of files, folders and assets, in the order in which they are checked.

The page checks the names of chosen files by the same rules (`docs/web_declarations.py`)."""
_ASSET_ID_RULES = (
    NAME_RULES[0],
    NameRule(r'[<>:"/\\|?*#]', "must not contain {found}"),
    *NAME_RULES[2:],
)
GLOBAL = "GLOBAL"
"""The databaseId of all databases. Only pipelines, workflows and schemas may use it."""


def is_text(value: str) -> str:
    """Require valid Unicode.

    Raises:
        ValueError: the text contains a lone surrogate.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("is not valid Unicode text") from None
    return value


def valid_text(text: str) -> str:
    """Return a text with its lone surrogates replaced, which no store accepts."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def check_text(value: str) -> str:
    """Check text of one or several lines.

    Raises:
        ValueError: the text is not valid Unicode, or contains control characters such as U+0000.
    """
    is_text(value)
    if _HAS_CONTROLS.search(value):
        raise ValueError("must not contain control characters other than tabs and line breaks")
    return value


def check_line(value: str) -> str:
    """Check a name, an id, a path or other text of one line.

    Raises:
        ValueError: the text is not valid Unicode, or contains a control character.
    """
    is_text(value)
    if any(unicodedata.category(char) == "Cc" for char in value):
        raise ValueError("must not contain control characters")
    return value


def check_words(value: str) -> str:
    """Require that a text is not blank; an empty one is allowed.

    Raises:
        ValueError: the text consists of spaces.
    """
    if value and not value.strip():
        raise ValueError("must contain more than spaces")
    return value


def trim_blanks(value: object) -> object:
    """Return a text without spaces, and without blanks that look like spaces, at its ends."""
    return value.strip(BLANKS) if isinstance(value, str) else value


def check_id(value: str) -> str:
    """Check a database id, or an id of the same form.

    Raises:
        ValueError: the id is not 3 to 63 letters, digits, `-` or `_`, or is the keyword GLOBAL.
    """
    if not _ID.fullmatch(value):
        raise ValueError("must be 3 to 63 letters, digits, '-' or '_'")
    if value.upper() == GLOBAL:
        raise ValueError("must not be 'GLOBAL', which is reserved")
    return value


def check_user_id(value: str) -> str:
    """Check a user id.

    Raises:
        ValueError: the id is not 3 to 256 word characters, `-`, `.`, `+` or `@`.
    """
    if not _USER_ID.fullmatch(value):
        raise ValueError("must be 3 to 256 letters, digits, '_', '-', '.', '+' or '@'")
    return value


def is_email(value: str) -> bool:
    """Return whether a text has the form of an e-mail address."""
    return len(value) <= MAX_EMAIL_CHARS and _EMAIL.fullmatch(value) is not None


def check_email(value: str) -> str:
    """Check an e-mail address.

    Raises:
        ValueError: the text does not have the form of an address.
    """
    if not is_email(value):
        raise ValueError("must be an e-mail address such as ann@example.org")
    return value


def check_object_name(value: str) -> str:
    """Check the name of a tag, tag type or role: letters, digits, `-`, `.`, `_` and spaces.

    Raises:
        ValueError: the name contains other characters.
    """
    # U+0020 is the only space in the pattern: others look the same.
    if not _OBJECT_NAME.fullmatch(value) or not value.strip():
        raise ValueError("must be 1 to 256 letters, digits, '-', '.', '_' or spaces")
    return value


def check_file_name(value: str) -> str:
    """Check one segment of a path. Names of assets have the same rules.

    Raises:
        ValueError: the message names the rule that is broken.
    """
    return _check_name(value, NAME_RULES)


def check_asset_id(value: str) -> str:
    """Check an asset id: as a file name, and without `#`.

    Raises:
        ValueError: the message names the rule that is broken.
    """
    return _check_name(value, _ASSET_ID_RULES)


def check_relative_path(value: str) -> str:
    """Check a file's path in its asset: it begins with `/`, and every segment is a file name.

    Raises:
        ValueError: the message names the rule that is broken.
    """
    if not value.startswith("/"):
        raise ValueError("must begin with '/'")
    if value == "/":
        raise ValueError("names the asset's folder: a file's path has no empty segment")
    if value.endswith("/") and "//" not in value:
        raise ValueError("names a folder: the path of a file does not end with '/'")
    for segment in value[1:].split("/"):
        if segment == "":
            raise ValueError("must not contain an empty segment ('//')")
        if segment in {".", ".."}:
            raise ValueError(f"must not contain the segment {quoted(segment)}")
        check_file_name(segment)
    if len(value.encode()) > MAX_KEY_BYTES:
        raise ValueError(f"must have at most {MAX_KEY_BYTES} bytes")
    return value


def normalise_relative_path(value: str) -> str:
    """As `check_relative_path`, but add a missing leading slash; VAMS clients omit it."""
    return check_relative_path(value if value.startswith("/") else "/" + value)


def check_new_path(value: str) -> str:
    """As `normalise_relative_path`, for the path of a new file.

    Raises:
        ValueError: the message names the rule that is broken.
    """
    return check_visible(normalise_relative_path(value))


def extension_of(path: str) -> str:
    """Return the extension with its dot, in lower case; empty if the name has none."""
    name = path.rsplit("/", 1)[-1]
    dot = name.rfind(".")
    extension = name[dot:] if dot > 0 else ""
    return extension.lower() if _EXTENSION.fullmatch(extension) else ""


def check_extension_list(value: str) -> str:
    """Check `.all`, or comma-separated extensions: `.pdf,.glb`. Case is ignored.

    Raises:
        ValueError: an element is not a dot and 1 to 16 letters or digits.
    """
    for element in value.split(","):
        if value and not _EXTENSION.fullmatch(element.strip()):
            raise ValueError(f"{quoted(element)} is not an extension such as '.glb'")
    return value


def check_extension(value: str) -> str:
    """Check a file extension with its dot.

    Raises:
        ValueError: the text is not a dot and 1 to 16 letters or digits.
    """
    if not _EXTENSION.fullmatch(value):
        raise ValueError(f"{quoted(value, 40)} is not an extension such as '.glb'")
    return value


def database_or_global(value: str) -> str:
    """Check the id of a database, or the keyword GLOBAL.

    Raises:
        ValueError: the text is neither.
    """
    return value if value == GLOBAL else check_id(value)


def _check_name(value: str, rules: tuple[NameRule, ...]) -> str:
    is_text(value)
    for rule in rules:
        rule.check(value)
    if unicodedata.normalize("NFC", value) != value:
        raise ValueError("must be Unicode in composed form (NFC)")
    return value


@frozen
class Form:
    """A form that a text must have; `fact` says so to people, whom a pattern would not help.

    Write it into `Annotated`, as pydantic's `Field(pattern=…)`, whose message has the pattern.
    """

    pattern: str
    fact: str

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def check(value: str) -> str:
            if not re.fullmatch(self.pattern, value):
                raise ValueError(self.fact)
            return value

        return no_info_after_validator_function(check, handler(source))

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(core_schema), "pattern": f"^{self.pattern}$"}


def _schema(**schema: object) -> Any:
    """Return the OpenAPI schema of a rule that a function checks, with a note if it states less."""
    return Field(json_schema_extra=cast("dict[str, Any]", schema))


_NAME = _schema(minLength=1, maxLength=MAX_NAME_CHARS, pattern=r'^[^<>:"/\\|?*]*[^<>:"/\\|?*. ]$')

WRITTEN = _schema(pattern=f"^[^{_CONTROLS}]*$")
"""The schema of text that users write."""

AnyText = Annotated[str, AfterValidator(is_text)]
"""Text without further rules: metadata values, and names from other systems in lookups."""
Text = Annotated[str, AfterValidator(check_text), WRITTEN]
"""Text that users write and others read."""
Line = Annotated[str, AfterValidator(check_line), _schema(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
"""Text of one line: names, ids, paths and keys."""
Words = Annotated[Text, AfterValidator(check_words)]
"""Such a text that must not be blank."""
Reason = Annotated[Text, Field(max_length=256)]
"""The reason for archiving or deleting something."""
Id = Annotated[str, AfterValidator(check_id), _schema(pattern="^[-_a-zA-Z0-9]{3,63}$")]
DatabaseOrGlobal = Annotated[
    str, AfterValidator(database_or_global), _schema(pattern="^[-_a-zA-Z0-9]{3,63}$")
]
AssetId = Annotated[str, AfterValidator(check_asset_id), _NAME]
AssetName = Annotated[str, AfterValidator(check_file_name), _NAME]
NewAssetId = Annotated[AssetId, AfterValidator(check_new_name)]
"""An id that a request chooses. `AssetId` also accepts stored ids, which can come from folders of a
bucket."""
SentAssetName = Annotated[AssetName, BeforeValidator(trim_blanks)]
"""A name that a request gives an asset: without blanks at its ends."""
NewAssetName = Annotated[SentAssetName, AfterValidator(check_visible)]
UserId = Annotated[str, AfterValidator(check_user_id), _schema(pattern="^[-_.+@a-zA-Z0-9]{3,256}$")]
NewUserId = Annotated[UserId, AfterValidator(check_visible)]
"""An id that a request introduces. `UserId` also accepts stored ids, so that they can be
removed."""
Email = Annotated[str, AfterValidator(check_email), _schema(format="email", maxLength=254)]
ObjectName = Annotated[
    str, AfterValidator(check_object_name), _schema(pattern="^[-._a-zA-Z0-9 ]{1,256}$")
]
NewObjectName = Annotated[
    str,
    AfterValidator(check_object_name),
    AfterValidator(check_new_name),
    _schema(pattern="^[-._a-zA-Z0-9]([-._a-zA-Z0-9 ]{0,254}[-._a-zA-Z0-9])?$"),
]
"""A name that a request introduces. `ObjectName` also accepts stored names."""
PATH_SCHEMA = _schema(
    minLength=1,
    maxLength=MAX_KEY_BYTES,
    pattern=f"^/?([^/]{{1,{MAX_NAME_CHARS}}}/)*[^/]{{1,{MAX_NAME_CHARS}}}$",
)
PREFIX_SCHEMA = _schema(pattern=f"^/?([^/]{{1,{MAX_NAME_CHARS}}}/)*[^/]{{0,{MAX_NAME_CHARS}}}$")
RelativePath = Annotated[str, AfterValidator(normalise_relative_path), PATH_SCHEMA]
Extension = Annotated[
    str, AfterValidator(check_extension), _schema(pattern=r"^\.[a-zA-Z0-9]{1,16}$")
]
ExtensionList = Annotated[
    str,
    Field(max_length=MAX_EXTENSION_LIST_CHARS),
    AfterValidator(check_extension_list),
    _schema(pattern=r"^((\.[a-zA-Z0-9]{1,16})(,\.[a-zA-Z0-9]{1,16})*)?$"),
]
Description = Annotated[
    str,
    Field(min_length=4, max_length=256),
    AfterValidator(check_text),
    AfterValidator(check_words),
    WRITTEN,
]


VersionIdText = Annotated[str, Form("[0-9]{1,18}", "must be the number of a version, such as 3")]
"""An asset version's id: a decimal number."""
