# SPDX-License-Identifier: Apache-2.0
"""The tables of json.md: the fields of each command's JSON, from the schemas in docs/schemas."""
import json

ORDER = ["error", "run", "link", "check", "inspect", "compile", "pack", "digest", "list", "cache-path", "cache-stats",
         "cache-warm", "cache-verify", "cache-prune", "cache-clear", "doctor", "bench"]
SHARED = ["finding", "start_ms", "kernel_resources", "output_comparison", "reference"]  # definitions that get a table of their own


def shared_name(schema):
    """"finding" of {"$ref": "common.json#/$defs/finding"}; else None."""
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


class Tables:
    """The schemas of a folder as Markdown."""

    def __init__(self, schemas):
        self.schemas = schemas
        self.common = self.load("common")["$defs"]

    def load(self, name):
        return json.loads((self.schemas / f"{name}.json").read_text())

    def type_of(self, schema):
        name = shared_name(schema)
        if name in SHARED:
            return f"[{name}](#{name})"
        if name == "error":
            return "object"
        if name:
            return self.type_of(self.common[name])
        if "const" in schema:
            return f'`"{schema["const"]}"`'
        if "enum" in schema:
            return "string or null" if None in schema["enum"] else "string"
        if "anyOf" in schema:
            return " or ".join(dict.fromkeys(self.type_of(part) for part in schema["anyOf"] if "pattern" not in part))
        if schema.get("type") == "array":
            return f"array of {self.type_of(schema['items'])}"
        types = schema.get("type", "string")
        return types if isinstance(types, str) else " or ".join(types)

    def values_of(self, schema):
        """" One of `a`, `b`." for an enumeration of few values."""
        stated = schema.get("enum") or self.common.get(shared_name(schema), {}).get("enum") or []
        values = [value for value in stated if value is not None]
        return f" One of {', '.join(f'`{value}`' for value in values)}." if 0 < len(values) < 20 else ""

    def rows(self, schema, prefix=""):
        """A table row for each property, and for those of the objects in it."""
        if shared_name(schema) == "error":
            schema = self.common["error"]
        if "items" in schema:
            yield from self.rows(schema["items"], prefix.rstrip(".") + "[].")
        if isinstance(schema.get("additionalProperties"), dict):  # names that are not known
            yield from self.rows(schema["additionalProperties"], prefix + "*.")
        required = schema.get("required", [])
        for name, value in schema.get("properties", {}).items():
            presence = "" if name in required else ", optional"
            yield f"| `{prefix}{name}` | {self.type_of(value)}{presence} | {value['description']}{self.values_of(value)} |"
            yield from self.rows(value, f"{prefix}{name}.")

    def table(self, schema):
        return "\n".join(["| field | type | meaning |", "|---|---|---|", *self.rows(schema)]) + "\n"

    def document(self, name):
        schema = self.load(name)
        text = f"\n## {schema['title']}\n\nSchema: [schemas/{name}.json](schemas/{name}.json)\n\n"
        if "then" not in schema:
            return text + self.table(schema)
        return f"{text}{schema['description']}\n\n{self.table(schema['else'])}\nWith several images:\n\n{self.table(schema['then'])}"

    def text(self):
        parts = [self.document(name) for name in ORDER]
        parts += [f"\n## {name}\n\n{self.common[name]['description']}\n\n{self.table(self.common[name])}" for name in SHARED]
        for name, title in (("stage", "Stages"), ("error_code", "Error codes"), ("finding_id", "Findings")):
            values = self.common[name].get("enum") or self.common[name]["anyOf"][0]["enum"]
            parts.append(f"\n## {title}\n\n{self.common[name]['description']}\n\n{', '.join(f'`{value}`' for value in values)}\n")
        return "".join(parts).lstrip("\n")


def text(schemas):
    """The part of json.md that is made from the schemas of the folder."""
    return Tables(schemas).text()
