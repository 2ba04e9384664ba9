"""The restart u: a conditional random field over a trace, summed over a lexicon's trie."""
