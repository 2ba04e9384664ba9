"""Words that no lexicon has, spelled letter by letter."""
