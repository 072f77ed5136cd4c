"""Letters as the normalizer and the analyzer of the indexes write them. Pure: no I/O.

OpenSearch's filters `lowercase` and `asciifolding` work on each code point. A test compares all of
Unicode with the engine, because neither Unicode's decompositions nor its case rules do the same:
デ, й and Hangul syllables remain as they are, ø and ß do not.
"""
# ruff: noqa: RUF001

import re
import unicodedata
from functools import cache

# Within these, the filter replaces a letter that Unicode decomposes to ASCII with that.
_DECOMPOSED = (
    *(range(0xC0, 0x2B0), range(0x1D62, 0x1D9A), range(0x1E00, 0x1F00), range(0x2070, 0x2095)),
    *(range(0x2460, 0x2500), range(0xFB00, 0xFB05), range(0xFB06, 0xFB07)),
    *(range(0xFF01, 0xFF40), range(0xFF41, 0xFF5C), range(0xFF5D, 0xFF5F)),
)
# Each replacement, followed by the letters that it replaces.
_OTHERS = (
    "!!‼!?⁉\"«»“”„″‶❝❞❮❯%⁒'‘’‚‛′‵‹›❛❜(❨❪((⸨)❩❫))⸩*⁎-‐‑‒–—⁻₋/⁄0⓿1¹⓵❶➀➊10⓾❿➉➓11⓫12⓬13⓭14⓮15⓯16⓰"
    "17⓱18⓲19⓳2²⓶❷➁➋20⓴3³⓷❸➂➌4⓸❹➃➍5⓹❺➄➎6⓺❻➅➏7⓻❼➆➐8⓼❽➇➑9⓽❾➈➒;⁏<❬❰>❭❱?!⁈??⁇AᴀAEᴁBʙᴃCʗᴄDᴅᴆEᴇⱻFꜰꟻ"
    "GǥǧɢʛHʜIɪᵻꟾJᴊKᴋLʟᴌMᴍꟽꟿNɴᴎOᴏᴐOEɶOUᴕPᴘRʀʁᴙᴚSꜱꞅTᴛUᴜᵾVᴠWᴡYʏZᴢ[⁅❲]⁆❳^‸aɐəɚᶏᶕẚₔⱥaaꜳaeæǣǽᴂaoꜵ"
    "auꜷavꜹꜻayꜽbƀƃɓᵬᶀcƈȼɕↄꜿdðđƌȡɖɗᵭᶁᶑꝺdbȸdzʣʥeǝɇɘɛɜɝɞʚᴈᶒᶓᶔⱸfƒᵮᶂẛꝼgɠɡᵷᵹᶃꝿhħɥɦʮʯⱨⱶhvƕiıɨᴉᵼᶖ"
    "jȷɉɟʄʝⱼkƙʞᶄⱪꝁꝃꝅlŀłƚȴɫɬɭᶅⱡꝇꝉꞁllỻlsʪlzʫmɯɰɱᵯᶆnŉŋƞȵɲɳᵰᶇoøǿɔɵᴖᴗᶗⱺꝋꝍoeœᴔooꝏouȣpƥᵱᵽᶈꝑꝓꝕꟼqĸɋʠꝗꝙ"
    "qpȹrɍɼɽɾɿᵲᵳᶉꝛꞃsȿʂᵴᶊẜẝssßtŧƫƭȶʇʈᵵⱦtcʨthþᵺꝧtsʦtzꜩuʉᶙueᵫvʋʌᶌⱱⱴꝟvyꝡwƿʍⱳxᶍyƴɏʎỿzƶȝȥɀʐʑᵶᶎⱬꝣ{❴"
    "}❵~⁓"
)
_REPLACEMENTS = {
    letter: ascii_text
    for ascii_text, letters in re.findall("([ -~]+)([^ -~]+)", _OTHERS)
    for letter in letters
}


def fold(text: str) -> str:
    """Return a text as the indexes write it: in lower case, Latin letters without accents."""
    return text.lower() if text.isascii() else "".join(map(_fold, text))


@cache
def _fold(char: str) -> str:
    lower = char.lower()[0]  # of İ, the engine keeps only the first code point
    if lower in _REPLACEMENTS:
        return _REPLACEMENTS[lower]
    if not any(ord(lower) in letters for letters in _DECOMPOSED):
        return lower
    decomposed = unicodedata.normalize("NFKD", lower)
    plain = "".join(part for part in decomposed if not unicodedata.combining(part))
    return plain if plain.isascii() else lower
