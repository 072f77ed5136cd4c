"""Parses filters in Lucene's syntax into trees; `filters` turns these into queries.

All of the syntax is parsed, including unsupported parts, so that errors can name them.
"""

from functools import cache
from typing import cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from backend.core.quoting import quoted

Node = Tree[Token]

GRAMMAR = r"""
?sequence: alternatives | alternatives alternatives+        -> all_of
?alternatives: conjunction | conjunction (_or conjunction)+ -> any_of
?conjunction: clause | clause (_and clause)+                -> all_of
?clause: condition
    | "+" clause                                            -> required
    | _not clause                                           -> none_of
_or: "OR" | "||"
_and: "AND" | "&&"
_not: "NOT" | "-" | "!"
?condition: value
    | TERM ":" clause                                       -> field
    | condition BOOST                                       -> boost
?value: "(" sequence ")"                                    -> group
    | word
    | phrase
    | TERM FUZZINESS                                        -> fuzziness
    | PHRASE FUZZINESS                                      -> proximity
    | REGEX                                                 -> regular_expression
    | COMPARISON (bound | phrase)                           -> comparison
    | OPENING range_bound "TO" range_bound CLOSING          -> range
word: TERM | TO
phrase: PHRASE
bound: TERM                                                 -> word
?range_bound: bound | phrase
    | "-" (bound | phrase)                                  -> minus

TO: "TO"
TERM: (FIRST | ESCAPED) (NEXT | ESCAPED | TIME)*
FIRST: /[^\s:^~(){}\[\]\/\x22'+\-!\\<>]/
NEXT: /[^\s:^\\~(){}\[\]]/
ESCAPED: /\\./
TIME: /(?<=T\d{2}):\d{2}(?::\d{2})?/
PHRASE: /"(?:[^\\\x22]|\\.)*"/
REGEX: /\/(?:[^\\\/]|\\.)*\//
FUZZINESS: /~[0-9.]*/
BOOST: /\^[0-9.]*/
COMPARISON: /[<>]=?/
OPENING: /[\[{]/
CLOSING: /[\]}]/
BLANKS: /\s+/
%ignore BLANKS
"""


class FilterSyntaxError(ValueError):
    """The text is not a valid filter; the message names the problem and its position."""


def parse(text: str) -> Node:
    """Return the tree of a filter; its nodes are named after the rules of the grammar.

    Raises:
        FilterSyntaxError: the text is not a valid filter.
    """
    try:
        # An LALR parser has its own stack, so nesting cannot exhaust Python's.
        return _parser().parse(text)
    except UnexpectedCharacters as error:
        at = error.pos_in_stream
        raise FilterSyntaxError(f"unexpected {quoted(text[at])} in column {at + 1}") from None
    except UnexpectedToken as error:
        token = cast("Token", error.token)
        if token.type == "$END":
            fact = f"unexpected end in column {len(text) + 1} (a bracket may not be closed)"
            raise FilterSyntaxError(fact) from None
        shown, column = quoted(str(token)), (token.start_pos or 0) + 1
        raise FilterSyntaxError(f"unexpected {shown} in column {column}") from None


@cache
def _parser() -> Lark:
    """Return the parser, which the first filter builds."""
    return Lark(GRAMMAR, start="sequence", parser="lalr", lexer="basic", propagate_positions=True)
