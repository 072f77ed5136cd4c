"""XML documents, read by expat: the first elements, or a tree of bounded size."""

from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from backend.processing import limits
from backend.processing.scene import RefusedError, words_of

# Of an element before the geometry, such as a unit. Expat returns texts in pieces, which an element
# of any length would add up.
_TEXT = 1000
# Libraries and readers visit each element within the one around it; 500 exceed the stack of resvg.
_NESTED = 200


class Elements(ElementTree.TreeBuilder):
    """Builds a tree of bounded size."""

    def __init__(self) -> None:
        super().__init__()
        self._nested = 0
        self._count = 0

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> ElementTree.Element:
        self._nested += 1
        self._count += 1
        if self._nested > _NESTED:
            raise RefusedError(f"its elements are nested more than {_NESTED} times")
        if self._count > limits.ELEMENTS:
            raise RefusedError(f"it has more than {limits.ELEMENTS} elements")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        self._nested -= 1
        return super().end(tag)


def tree_of(
    data: bytes, elements: Elements, *, with_namespaces: bool = True
) -> ElementTree.Element:
    """Return the root of a document.

    Without namespaces a prefix is a part of a name, and need not be declared.

    Raises:
        RefusedError: it is not valid, or has too many elements.
    """
    try:
        if with_namespaces:
            parser = ElementTree.XMLParser(target=elements)  # noqa: S314 - expat bounds entities
            return ElementTree.fromstring(data, parser)  # noqa: S314 - as above
        plain = expat.ParserCreate()
        plain.StartElementHandler, plain.EndElementHandler = elements.start, elements.end
        plain.CharacterDataHandler = elements.data
        plain.Parse(data, True)
        return elements.close()
    except LookupError:
        raise RefusedError("not valid XML: unknown encoding") from None
    except (ElementTree.ParseError, expat.ExpatError, ValueError) as error:
        raise RefusedError(f"not valid XML: {words_of(error)}") from None


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
