"""What u says of one word, by itself."""

from doeblin.gestures.decoder.restart import Trace, merged_keys, pack
from doeblin.gestures.decoder.spelling._engine import spelt


def own_mass(decoder, gesture, word):
    """log m of a word, followed on its own."""
    layout, packed = decoder.layout, pack([gesture], decoder.layout)
    trace = Trace(packed.x, packed.y, packed.t)
    return spelt(trace, decoder.restart, decoder.extra(packed), merged_keys(layout, word))[0]
