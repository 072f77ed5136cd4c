"""The first elements of an XML document, read by expat."""

from dataclasses import dataclass, field
from xml.parsers import expat

# Of an element before the geometry, such as a unit. Expat returns texts in pieces, which an element
# of any length would add up.
_TEXT = 1000


@dataclass
class XmlStart:
    """The root, and by name the attributes and the text of the first element of that name.

    Names have no namespace prefix.
    """

    root: str = ""
    attributes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    relations: dict[str, str] = field(default_factory=dict[str, str])


class _EntityError(Exception):
    """The document declares entities, which may expand without bound."""


def xml_start(data: bytes) -> XmlStart:
    """Return the elements of a document that may be cut off or broken after some of them."""
    read, open_elements = XmlStart(), list[str]()

    def start(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        read.root = read.root or local
        open_elements.append(local)
        read.attributes.setdefault(local, attributes)
        if local == "Relationship":
            read.relations.setdefault(attributes.get("Type", ""), attributes.get("Target", ""))

    def end(_name: str) -> None:
        open_elements.pop()

    def text(content: str) -> None:
        name = open_elements[-1]
        read.texts[name] = (read.texts.get(name, "") + content)[:_TEXT]

    def entity(*_declared: object) -> None:
        raise _EntityError

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = text, entity
    try:
        parser.Parse(data, False)
    except (expat.ExpatError, _EntityError, LookupError, ValueError):
        return read
    return read


def relations_of(data: bytes) -> dict[str, str]:
    """Return the targets of the relations of a package, by their type."""
    return xml_start(data).relations
