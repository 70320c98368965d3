"""The web pages on which people rate. Reads what raters may see and nothing else: the key stays shut."""
