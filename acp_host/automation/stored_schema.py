"""JSON Schemas that are files of this package: :class:`StoredSchema`."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

__all__ = ["StoredSchema"]


class StoredSchema:
    """A schema in a file, to give away and to hold documents against.

    Args:
        package: the package in whose folder ``schemas`` it is.
        name: of the file.
        uses: the schemas that it refers to by their ``$id``, by the name of the definition that each becomes in it.
    """

    def __init__(self, package: str, name: str, **uses: StoredSchema) -> None:
        self._package = package
        self._name = name
        self._uses = uses
        self._validators: dict[str | None, Draft202012Validator] = {}

    def document(self) -> dict[str, Any]:
        """Return the schema, with all that it refers to."""
        file = resources.files(self._package) / "schemas" / self._name
        schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
        schema["$defs"] |= {name: used.document() for name, used in self._uses.items()}
        return schema

    def problem_with(self, document: Any, definition: str | None = None) -> str | None:
        """Return what is wrong with a document, with the place; ``None`` where it is valid.

        Args:
            document: plain JSON values.
            definition: the definition of the schema to hold it against; ``None``: the schema itself.
        """
        from jsonschema.exceptions import best_match  # loaded by those who read JSON, and not by those who write it

        error = best_match(self._validator(definition).iter_errors(document))
        return None if error is None else f"{error.message[:200]} at {error.json_path}"

    def _validator(self, definition: str | None) -> Draft202012Validator:
        if definition not in self._validators:
            from jsonschema import Draft202012Validator

            schema = self.document()
            if definition is not None:
                schema = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
            self._validators[definition] = Draft202012Validator(schema)
        return self._validators[definition]
