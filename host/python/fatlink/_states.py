# SPDX-License-Identifier: Apache-2.0
"""The type of a transform's state, whose fields the .json beside it states, and which a plan does not describe."""
import os

from ._elements import NUMBERS, is_same_record, warn_of_names
from ._errors import UsageError, UsageTypeError


class StateType:
    """The fields of a state, as C++ lays them out."""

    __slots__ = ("owner", "names", "types", "bytes")

    def __init__(self, owner, fields):
        self.owner = owner
        self.names = [name for name, _ in fields]
        self.types = [type_name for _, type_name in fields]
        end, alignment = 0, 1
        for type_name in self.types:
            size = NUMBERS[type_name][1]
            end = -(-end // size) * size + size
            alignment = max(alignment, size)
        self.bytes = -(-end // alignment) * alignment

    def __str__(self):
        return ", ".join(f"{name}: {type_name}" for name, type_name in zip(self.names, self.types))

    def check(self, name, view):
        """Raises where an array has too few bytes for the state, or numbers of another type. Bytes (uint8) are any type."""
        if view.count * view.element.bytes < self.bytes:
            raise UsageError(f"{name} has {view.count * view.element.bytes} bytes; the state of {self.owner} has {self.bytes} "
                             f"({self})", input=name, hint="pass an array with these fields")
        if not self._fits(view.element):
            raise UsageTypeError(f"{name} is an array of {view.element}; the state of {self.owner} has {self}", input=name,
                                 hint="pass an array of this type, a structured dtype with these fields, or bytes (uint8)")
        if view.element.name.startswith("{") and view.element.name != f"{{{self}}}":
            warn_of_names(name, view.element, self.owner, self)

    def _fits(self, element):
        if element.dtype is not None:
            return not element.dtype.names or is_same_record(element.name, f"{{{self}}}")
        return element.name == "uint8" or all(type_name == element.name for type_name in self.types)


def find_state(transforms) -> StateType | None:
    """The state of the first transform that states one; None where no file does."""
    for transform in transforms:
        fields = _read_fields(transform)
        if fields:
            return StateType(os.path.splitext(os.path.basename(transform.name))[0], fields)
    return None


def _read_fields(transform):
    """The fields in the .json beside a transform's file, if it was written for the same bytes."""
    import json
    try:
        with open(os.path.splitext(transform.name)[0] + ".json", encoding="utf-8") as file:
            description = json.load(file)
        if description.get("sha256") != transform.digest:
            return None
        fields = [(field["name"], field["type"]) for field in description.get("state", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return fields if all(type_name in NUMBERS for _, type_name in fields) else None
