"""Blind human studies: people judge what systems retrieved, without knowing which system did."""
