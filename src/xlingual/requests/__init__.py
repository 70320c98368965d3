"""Requests: the options of one command as a typed record, with a sentence for every field.

From a record come the options of the command and their help, the TOML file that says the same, the JSON
Schema, and what a result keeps as "how this was made". `read` makes them, and checks every value.
"""

from xlingual.requests.provenance import answers, sign, signed
from xlingual.requests.reading import checked, made, read
from xlingual.requests.record import Record, Request, argument, defaults, leaves, option, schema, values

__all__ = [
    "Record",
    "Request",
    "answers",
    "argument",
    "checked",
    "defaults",
    "leaves",
    "made",
    "option",
    "read",
    "schema",
    "sign",
    "signed",
    "values",
]
