"""Training: u by the likelihood over the trie, A's factors and networks by that of π̃."""
