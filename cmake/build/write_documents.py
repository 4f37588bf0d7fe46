# SPDX-License-Identifier: Apache-2.0
"""Writes the documents of docs/ that have a generated part: json.md, python_reference.md, reference_device.md.

    write_documents.py SOURCE OUTPUT [COMMAND...]

SOURCE: the repository. OUTPUT: the folder for the documents. COMMAND: prints the table of the reference device's instructions;
without it, reference_device.md is not written. In docs/ each of these documents has, between two comments, a
note about where the generated part is; here that part replaces the note.

The tables of json.md, the fields of each command's JSON, come from the schemas in docs/schemas. The names of
python_reference.md, the public names of the package `fatlink`, come from signatures and docstrings: the package is imported,
which opens the shared library only when a function of it is called, so nothing must be built."""
import importlib
import inspect
import json
import pathlib
import re
import subprocess
import sys
import textwrap
import types

ORDER = ["error", "run", "link", "check", "inspect", "compile", "pack", "digest", "list", "cache-path", "cache-stats",
         "cache-warm", "cache-verify", "cache-prune", "cache-clear", "doctor", "explain", "bench"]
SHARED = ["finding", "start_ms", "kernel_resources", "output_comparison", "reference", "installed_contract"]  # definitions that get a table of their own


def shared_name(schema):
    """"finding" of {"$ref": "common.json#/$defs/finding"}; else None."""
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


class Tables:
    """The schemas of a folder as the tables of json.md."""

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


# ---- python_reference.md; main() imports the package `fatlink`

# Methods and properties for other modules of the package, which have no underscore.
INTERNAL = {"Plan.on", "PlanArgument.element"}
PUBLIC_BASES = {"PlanImage": "Image"}  # what is shown of private classes
SPECIAL = {"__bytes__": "bytes({})"}


def type_name(annotation):
    """An annotation as it is written in the sources."""
    name = annotation.strip("\"'") if isinstance(annotation, str) else getattr(annotation, "__name__", "None")
    return PUBLIC_BASES.get(name, name)


def parameter_text(parameter):
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    annotated = parameter.annotation is not parameter.empty
    if annotated:
        text += f": {type_name(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        text += f" = {default}" if annotated else f"={default}"
    return text


def parameters_of(function, is_method):
    """The texts of the parameters, with the "*" before those that are named."""
    texts, has_star = [], False
    for index, parameter in enumerate(inspect.signature(function).parameters.values()):
        if is_method and index == 0:
            continue
        if parameter.kind == parameter.KEYWORD_ONLY and not has_star:
            texts.append("*")
        has_star = has_star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        texts.append(parameter_text(parameter))
    return texts


def wrapped(prefix, texts, suffix):
    """The signature, in lines of at most 110 columns."""
    lines, indent = [prefix + "("], " " * (len(prefix) + 1)
    for index, text in enumerate(texts):
        text += "," if index + 1 < len(texts) else ")" + suffix
        if len(lines[-1]) + len(text) > 108 and lines[-1].strip():
            lines.append(indent)
        lines[-1] += text if lines[-1].endswith(("(", indent)) and len(lines[-1]) <= len(indent) else " " + text
    return "\n".join(lines) if texts else f"{prefix}(){suffix}"


def signature(name, function, is_method=False):
    returned = inspect.signature(function).return_annotation
    suffix = "" if returned is inspect.Signature.empty or is_method is None else f" -> {type_name(returned)}"
    return f"```python\n{wrapped(name, parameters_of(function, is_method is not False), suffix)}\n```\n"


# What is code outside of `code`: texts, elements, calls without arguments, names with underscores.
CODE = re.compile(r'("[^"]*"|\w+\[(?:[^][]|\[[^][]*\])*\]|\w+\(\)|(?<![\w/])\w*_\w*)')


def prose(text):
    """Text of a docstring as Markdown, with links to the documents that it mentions."""
    parts = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(parts), 2):
        documents = re.split(r"\bdocs/(\w+\.md)", parts[index])
        documents[::2] = [CODE.sub(r"`\1`", part) for part in documents[::2]]
        documents[1::2] = [f"[{name}]({name})" for name in documents[1::2]]
        parts[index] = "".join(documents)
    return "".join(parts)


def paragraph(lines):
    """A paragraph of a docstring. One of names and their meanings in columns is a list; an example is code as it is."""
    if lines[0].lstrip().startswith(">>>"):
        return "```pycon\n" + textwrap.dedent("\n".join(lines)) + "\n```\n"
    if not re.match(r"[\w, ]*\w {3,}\S", lines[0]):
        return prose("\n".join(lines)) + "\n"
    items = []
    for line in lines:
        entry = re.match(r"(\w[\w, ]*?) {3,}(\S.*)|(\w+)  (\S.*)", line)
        if entry:
            names, meaning = entry[1] or entry[3], entry[2] or entry[4]
            items.append(f"- {', '.join(f'`{name}`' for name in names.split(', '))}: {prose(meaning)}")
        else:
            items[-1] += "\n  " + prose(line.strip())
    return "\n".join(items) + "\n"


def docstring(entry):
    text = inspect.getdoc(entry)
    if not text:
        named = entry.fget if isinstance(entry, property) else entry
        sys.exit(f"write_documents: error: {named.__qualname__} has no docstring")
    return text.strip()


def description(entry):
    paragraphs = docstring(entry).split("\n\n")
    return "\n".join(paragraph(text.split("\n")) for text in paragraphs)


def inherited(cls):
    """The class, and the private ones of the package that it derives from, whose members are its own."""
    return [cls] + [base for base in cls.__mro__[1:] if base.__module__.startswith("fatlink._") and
                    base.__name__ not in fatlink.__all__]


def attributes(cls):
    """(name, type, meaning) of the class's attributes: those with annotations, and those with a comment `#:`."""
    found = {}
    for base in inherited(cls):
        for name, annotation in inspect.get_annotations(base).items():
            found[name] = [type_name(annotation), ""]
        for name in vars(base).get("__slots__", ()):
            found.setdefault(name, ["", ""])
        source = re.sub(r"\n +#: ", " ", inspect.getsource(base))
        for name, meaning in re.findall(r"^ +(?:self\.)?(\w+) = .*?  #: (.*)", source, re.MULTILINE):
            found.setdefault(name, ["", ""])[1] = meaning
    return [(name, *rest) for name, rest in found.items() if not name.startswith("_")]


def attribute_list(cls):
    for name, kind, meaning in attributes(cls):
        yield f"- `{name}{': ' + kind if kind else ''}`{': ' + prose(meaning) if meaning else ''}"


def members(cls):
    """(name, member) of the methods and properties, in the order of the source."""
    found = {}
    for base in inherited(cls):
        for name, member in vars(base).items():
            is_member = isinstance(member, (property, classmethod, staticmethod)) or inspect.isfunction(member)
            if is_member and (name in SPECIAL or not name.startswith("_")) and f"{cls.__name__}.{name}" not in INTERNAL:
                found.setdefault(name, member)
    return found.items()


def member_text(cls, name, member):
    owner = cls.__name__
    if isinstance(member, property):
        returned = inspect.signature(member.fget).return_annotation
        kind = "" if returned is inspect.Signature.empty else f": {type_name(returned)}"
        return f"\n#### {owner}.{name}\n\n```python\n{name}{kind}\n```\n\n{description(member)}"
    if name in SPECIAL:
        call = SPECIAL[name].format(owner.lower())
        return f"\n#### {call}\n\n{description(member)}"
    function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    prefix = f"{owner}.{name}" if isinstance(member, classmethod) else name
    return f"\n#### {owner}.{name}\n\n{signature(prefix, function, True)}\n{description(function)}"


def is_constructed(cls):
    """Whether callers construct it: the first parameter is annotated or has a default, unlike a handle."""
    parameters = list(inspect.signature(cls).parameters.values())
    return bool(parameters) and (parameters[0].annotation is not inspect.Parameter.empty or
                                 parameters[0].default is not inspect.Parameter.empty)


def class_text(name, cls):
    bases = [base.__name__ for base in cls.__bases__ if base.__name__ in fatlink.__all__ or base.__module__ == "builtins"]
    bases = [base for base in bases if base != "object"]
    text = f"\n### {name}\n\n"
    if any("__init__" in vars(base) for base in inherited(cls)) and is_constructed(cls):
        text += signature(name, cls.__init__, None) + "\n"
    text += description(cls)
    if bases:
        text += f"\nBases: {', '.join(f'[{base}](#{base.lower()})' if base in fatlink.__all__ else f'`{base}`' for base in bases)}.\n"
    listed = "\n".join(attribute_list(cls))
    return text + (f"\nAttributes:\n\n{listed}\n" if listed else "") + "".join(
        member_text(cls, member, entry) for member, entry in members(cls))


def function_text(name, function, level="###"):
    heading = f"\n{level} {name}\n\n"
    return heading + signature(name, function) + "\n" + description(function)


def module_text(name, module):
    functions = [(entry, function) for entry, function in vars(module).items()
                 if inspect.isfunction(function) and function.__module__ == module.__name__ and not entry.startswith("_")]
    summary = docstring(module).partition("\n")[0]
    return f"\n## fatlink.{name}\n\n{prose(summary)}\n" + "".join(
        function_text(f"{name}.{entry}", function) for entry, function in functions)


def summary(entry):
    """The first sentence of a docstring."""
    text = " ".join(docstring(entry).split("\n\n")[0].split())
    return prose(re.split(r"\.(?: |$)", text)[0]).replace("|", "\\|")


def contents(title, names):
    rows = "\n".join(f"| [{name}](#{name.lower()}) | {summary(getattr(fatlink, name))} |" for name in names)
    return f"\n## {title}\n\n| name | |\n|---|---|\n{rows}\n"


# Frameworks that have a module of the package, which imports the framework.
FRAMEWORKS = ("jax", "torch")


def framework_module(name):
    """The package's module for a framework. An empty module takes the place of the framework, which its docstrings do not need."""
    sys.modules.setdefault(name, types.ModuleType(name))
    return importlib.import_module(f"fatlink.{name}")


def python_names():
    """The part of python_reference.md that is made from the package."""
    entries = {name: getattr(fatlink, name) for name in fatlink.__all__}
    classes = [name for name, entry in entries.items() if inspect.isclass(entry)]
    errors = [name for name in classes if issubclass(entries[name], BaseException)]
    functions = [name for name, entry in entries.items() if inspect.isfunction(entry)]
    others = [name for name in classes if name not in errors]
    parts = [contents("Functions", functions), *(function_text(name, entries[name]) for name in functions)]
    for title, names in (("Classes", others), ("Errors", errors)):
        parts += [contents(title, names), *(class_text(name, entries[name]) for name in names)]
    parts += [module_text(name, entry) for name, entry in entries.items() if inspect.ismodule(entry)]
    parts += [module_text(name, framework_module(name)) for name in FRAMEWORKS]
    return "".join(parts).lstrip("\n")


# ---- the documents

NOTE = re.compile(r"^<!-- generated by the target documents -->\n.*?^<!-- end -->\n", re.MULTILINE | re.DOTALL)


def document(source, name, generated):
    """docs/NAME with the generated part."""
    text, count = NOTE.subn(lambda _: generated, (source / "docs" / name).read_text())
    if count != 1:
        sys.exit(f"write_documents: error: docs/{name} has {count} notes in place of its generated part, not 1: "
                 f"'<!-- generated by the target documents -->' to '<!-- end -->'")
    return text


def main(source, output, *command):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(source / "host/python"))
    global fatlink
    import fatlink
    documents = {"json.md": Tables(source / "docs/schemas").text(), "python_reference.md": python_names()}
    if command:
        documents["reference_device.md"] = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout
    output.mkdir(parents=True, exist_ok=True)
    for name, generated in documents.items():
        (output / name).write_text(document(source, name, generated))


if __name__ == "__main__":
    main(*(pathlib.Path(word).resolve() for word in sys.argv[1:]))
