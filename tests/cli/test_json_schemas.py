# SPDX-License-Identifier: Apache-2.0
"""Every command's --json is what docs/schemas and json.md say: no field less, and none more."""
import json
import os
import pathlib
import re
import shutil
import unittest

import json_schemas
from compile_case import CONTRACT, HALF, has_nvrtc
from fatlink_cli import BUILD, HOOK, LIBRARY, NVCC, PROGRAM, SHARE, TESTS, CliTest, doctor, gpus
from program_help import all_verbs, file_of, options_of

RELU = SHARE / "relu_poly.fatbin"
WITH_JSON = [verb for verb in all_verbs() if "--json" in options_of(verb)]
# Fields that take sass mode (a GPU).
UNSEEN = {"run": {"run.results.sass"}}
# Those of links in two steps take nvJitLink 13.3.
TWO_STEPS = {f"bench.two_steps.{name}" for name in ("emit", "step_ms", "last_ms")}
ON_A_GPU = {"bench": r"bench\.(device|kernels)\.", "run": r"run\.(modes\.links\.resources|reference_device\..*)$", "doctor": r"doctor\.(gpus\.|driver\.cuda$)"}
WITHOUT_A_GPU = {"doctor": r"doctor\.driver\.reason$"}

PLAN = {"name": "copy", "summary": "s", "contract": "copy/1",
        "arguments": [{"name": "in", "role": "input", "type": "element", "count": "n", "alignment": 16,
                       "hook": "user_transform"},
                      {"name": "out", "role": "output", "type": "element", "count": "n", "length": "count",
                       "may_overlap": ["in"]},
                      {"name": "count", "role": "output", "type": "uint64"},
                      {"name": "n", "role": "size", "default": 1}],
        "launches": [{"kernel": "apply_transform", "grid": 1, "block": 32, "arguments": ["in", "out", "count", "n"]}],
        "computes": {"out": "map(user_transform, in)"}, "depth": {"out": "1"}}


def source(path):
    if not os.environ.get("FATLINK_SOURCE"):
        raise unittest.SkipTest("FATLINK_SOURCE is not set: the source is not there")
    return pathlib.Path(os.environ["FATLINK_SOURCE"]) / path


def enumerators(header, name):
    """["invalid-target", …] of an enumeration in a public header."""
    text = re.search(rf"enum class {name}[^{{]*{{(.*?)}};", source(f"host/include/fatlink/{header}").read_text(), re.S)[1]
    return [word.replace("_", "-") for word in re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", text).replace(",", "\n"), re.M)]


def document():
    """The document of the JSON, with the tables that are made from the schemas."""
    path = BUILD / "share/doc/fatlink/json.md"
    if not path.exists():
        raise unittest.SkipTest(f"{path} is not there: the documentation is not installed")
    return path.read_text()


class Schemas(unittest.TestCase):
    def test_every_verb_has_a_schema_and_every_schema_a_verb(self):
        self.assertEqual(json_schemas.schema_names(), sorted(["error", *(verb.replace(" ", "-") for verb in WITH_JSON)]))

    def test_every_object_lists_its_fields_describes_each_and_allows_no_other(self):
        for name in [*json_schemas.schema_names(), "common"]:
            for part in json_schemas.objects(json_schemas.load(name)):
                properties = part.get("properties", {})
                with self.subTest(schema=name, fields=list(properties)):
                    self.assertIn("additionalProperties", part)
                    if properties:
                        self.assertIs(part["additionalProperties"], False)
                        self.assertLessEqual(set(part["required"]), set(properties))
                    self.assertEqual([key for key, value in properties.items() if not value.get("description")], [])

    def test_stages_codes_and_findings_are_those_of_the_enumerations(self):
        shared = json_schemas.load("common")["$defs"]
        for values, header, name in ((shared["stage"]["enum"], "error.hpp", "stage"),
                                     (shared["error_code"]["anyOf"][0]["enum"], "error.hpp", "error_code"),
                                     (shared["finding_id"]["enum"], "finding.hpp", "finding_id")):
            with self.subTest(enumeration=name):
                self.assertEqual(sorted(values), sorted(enumerators(header, name)))

    def test_no_schema_is_missing_in_the_document(self):
        text = document()
        for name in json_schemas.schema_names():
            with self.subTest(schema=name):
                self.assertIn(f"\n## {json_schemas.load(name)['title']}\n\nSchema: [schemas/{name}.json](schemas/{name}.json)\n", text)

    def test_the_document_states_every_field_stage_code_and_finding(self):
        rows = set(re.findall(r"^\| `(?:[^`]*\.)?(\w+)` \| [^|]+ \| .+ \|$", document(), re.MULTILINE))
        for name in [*json_schemas.schema_names(), "common"]:
            for part in json_schemas.objects(json_schemas.load(name)):
                with self.subTest(schema=name, fields=list(part.get("properties", {}))):
                    self.assertEqual(set(part.get("properties", {})) - rows, set())
        shared = json_schemas.load("common")["$defs"]
        for values in (shared["stage"]["enum"], shared["error_code"]["anyOf"][0]["enum"], shared["finding_id"]["enum"]):
            self.assertIn(", ".join(f"`{value}`" for value in values), document())

    def test_the_document_says_null_as_json_does(self):
        self.assertIn("| `devices[].kind` | string or null |", document())
        self.assertNotIn("`None`", document())


class JsonTest(CliTest):
    def setUp(self):
        super().setUp()
        self.outputs = []

    def json(self, *words, status=0, **options):
        return self.validated(json.loads(self.fatlink(*words, "--json", status=status, **options).stdout))

    def validated(self, output):
        name = json_schemas.name_of(output)
        self.assertIn(name, json_schemas.schema_names(), output)
        self.assertEqual(json_schemas.messages(json_schemas.load(name), output), [], output)
        self.outputs.append(output)
        return output

    def assert_every_field_seen(self, name):
        """The outputs so far have every field that the schema describes."""
        schema = json_schemas.load(name)
        seen = {field for output in self.outputs for field in json_schemas.fields_in(output, schema, name)}
        absent = (WITHOUT_A_GPU if gpus() else ON_A_GPU).get(name, "$^")
        expected = {field for field in json_schemas.fields(schema, name)
                    if not re.match(absent, field) and field.startswith(f"{name}.")}
        self.assertEqual(expected - seen, unseen_fields(name))


def unseen_fields(name):
    if name == "bench" and tuple(map(int, doctor()["nvjitlink"]["version"].split(".")[:2])) < (13, 3):
        return TWO_STEPS
    return UNSEEN.get(name, set())


class Outputs(JsonTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def test_run(self):
        run = ["run", "--device", "cpu", "--elements", "100", "--library", LIBRARY]
        self.json("run", "--elements", "100", "--library", LIBRARY, "--transform", RELU,
                  *(["--resources"] if gpus() else []))
        self.assertEqual(self.json(*run, "--transform", RELU, "--print", "2")["modes"][1]["links"][0]["cache"], "hit" if not gpus() else "miss")
        self.json(*run, "--transform", RELU, "--mode", "lto", "--no-cache", "--print", "1")
        wrong = self.compile("wrong", HOOK.replace("return x", "return x == 0.25f ? 1.0f : x"))
        self.assertIsNone(self.json(*run, "--transform", wrong)["modes"][0]["verified"])
        self.file("wrong.json", json.dumps({"name": "wrong", "summary": "", "hook": "user_transform", "reference": "x",
                                            "tolerance_ulp": 0}))
        self.json(*run, "--transform", wrong, status=1)
        self.file("half.cu", HOOK)
        self.json("run", "--device", "cpu", "--elements", "100", "--transform", "half.cu")
        run = ["run", "--device", "cpu,cpu", "--elements", "100"]
        if gpus():
            self.json("run", "--device", "all", "--elements", "100", "--resources")
        self.json(*run, "--transform", RELU, "--print", "2")
        self.json(*run, "--transform", "float_to_half", "--print", "2")
        (self.folder / "wrong.json").unlink()
        self.assertIsNone(self.json(*run, "--transform", wrong, "--library", LIBRARY)["modes"][0]["verified"])
        self.file("wrong.json", json.dumps({"name": "wrong", "summary": "", "hook": "user_transform", "reference": "x",
                                            "tolerance_ulp": 0}))
        self.json(*run, "--transform", wrong, "--library", LIBRARY, status=1)
        self.json("run", "--device", "cpu,gpu:77", status=5)
        self.file("half.cu", HOOK)
        self.json(*run, "--library", LIBRARY, "--transform", "half.cu")
        self.assert_every_field_seen("run")

    def test_link(self):
        link = ["link", "--target", "sm_90", LIBRARY, RELU, "-o"]
        self.assertEqual(self.json(*link, "one.cubin", "--resources")["cache"], "miss")
        self.assertEqual(self.json(*link, "two.cubin")["cache"], "hit")
        self.assertEqual(self.json(*link, "three.ptx", "--emit", "ptx", "--no-cache")["cache"], "off")
        self.assertEqual(len(self.json(*link, "{target}.cubin", "--target", "sm_80", "--resources")["images"]), 2)
        by_hand = self.file("by_hand.fatbin", (TESTS / "fixtures/uncontracted.fatbin").read_bytes())
        self.assertTrue(self.json("link", "--target", "sm_90", LIBRARY, by_hand, "-o", "four.cubin")["warnings"])
        self.assert_every_field_seen("link")

    def test_check(self):
        self.json("check", LIBRARY, RELU)
        self.json("check", "--target", "all", LIBRARY, status=4)
        self.assertEqual(self.json("check", RELU)["targets"][0]["library"]["name"], "apply_transform")
        self.assertTrue(self.json("check", LIBRARY, TESTS / "fixtures/uncontracted.fatbin")["targets"][0]["findings"])
        self.assert_every_field_seen("check")

    def test_inspect(self):
        self.json("inspect", LIBRARY, RELU)
        damaged = bytearray(RELU.read_bytes())
        damaged[-10] ^= 1
        self.assertIn("error", self.json("inspect", self.file("damaged.fatbin", bytes(damaged)), status=3))
        for name in ("transform.ptx", "transform.ltoir", "relocatable.cubin", "two_units.o", "transform.a"):
            self.json("inspect", TESTS / "fixtures/forms" / name)
        for name in ("raw", "types_sass", "resources_whole", "resources_part"):
            self.json("inspect", TESTS / f"fixtures/{name}.fatbin")
        shutil.copy(TESTS / "fixtures/library.fatbin", self.folder)
        self.file("library.json", json.dumps(PLAN))
        self.json("inspect", self.folder / "library.fatbin", SHARE / "load_float16.fatbin")
        self.json("inspect", SHARE / "reduce_by_key_4.fatbin", SHARE / "top_k_4.fatbin", SHARE / "map1.fatbin")  # included contracts; limits of sizes
        self.json("inspect", "--contract", "combine_8")
        if not has_nvrtc():
            self.skipTest("no NVRTC on this machine: fields of sources are not checked")
        self.json("inspect", self.file("half.cu", HALF))
        self.assert_every_field_seen("inspect")

    def test_pack(self):
        half = TESTS / "fixtures/transform.fatbin"
        self.json("pack", "-o", "one.fatbin", half)
        self.assertTrue(self.json("pack", "-o", "two.fatbin", half, TESTS / "fixtures/two_types_ltoir.fatbin", status=4))
        self.assertTrue(self.json("pack", "-o", "two.fatbin", half, TESTS / "fixtures/specific.fatbin")["warnings"])
        self.assert_every_field_seen("pack")

    def test_compile(self):
        if not has_nvrtc():
            self.skipTest("no NVRTC on this machine")
        self.file("half.cu", HALF.replace("{", "{ int unused;"))
        compile_half = ["compile", "half.cu", *CONTRACT, "-o"]
        self.assertTrue(self.json(*compile_half, "half.fatbin", "--sass", "90", "--arch", "75")["warnings"])
        self.assertEqual([self.json(*compile_half, "half.fatbin", *more)["cache"] for more in ([], [], ["--no-cache"])],
                         ["miss", "hit", "off"])
        self.assertNotIn("sidecar", self.json(*compile_half, "/dev/null"))
        self.assert_every_field_seen("compile")

    def test_digest_and_the_ident_that_it_adds(self):
        raw = self.file("raw.fatbin", (TESTS / "fixtures/raw.fatbin").read_bytes())
        self.json("digest", raw)
        self.json("inspect", raw)
        self.assert_every_field_seen("digest")

    def test_list(self):
        self.file("nothing.fatbin", "nothing")
        shutil.copy(RELU, self.folder)
        shutil.copy(TESTS / "fixtures/uncontracted.fatbin", self.folder)
        self.json("list", env={"FATLINK_PATH": str(self.folder)})
        self.json("list", "gelu", "--kind", "transform")
        self.json("list", "--kind", "contract")
        self.assert_every_field_seen("list")

    def test_explain(self):
        self.json("explain")
        self.assertEqual(len(self.json("explain", "missing-hook")["codes"]), 1)
        self.assert_every_field_seen("explain")

    def test_the_cache(self):
        for verb in ("path", "stats", "verify"):
            self.json("cache", verb)
        warm = ["cache", "warm", "--target", "sm_90", "--emit", "cubin,ptx", LIBRARY, RELU]
        self.json(*warm)
        self.json(*warm, "--layer", self.folder / "layer")
        entry = next(path for path in self.cache.rglob("*") if path.is_file() and path.stat().st_size > 4000)
        entry.write_bytes(entry.read_bytes()[:-1])
        self.assertTrue(self.json("cache", "verify", status=3)["damaged"])
        self.json("cache", "stats", env={"FATLINK_SYSTEM_CACHE": str(self.folder / "layer")})
        self.json("cache", "prune")
        self.json("cache", "clear")
        source = self.file("half.cu", HALF)
        record = ["cache", "record", "--json", "--output", "record"]
        command = [PROGRAM, "link", "--target", "sm_90", "--kernel", "apply_transform", "-o", "o", LIBRARY, source if has_nvrtc() else RELU]
        for words in (["--layer", self.folder / "layer", "--", *command], []):
            self.validated(json.loads(self.fatlink(*record, *words).stdout))
        verbs = ["path", "stats", "verify", "warm", "prune", "clear"]
        for verb in (*verbs, "record") if has_nvrtc() else verbs:
            self.assert_every_field_seen(f"cache-{verb}")

    def test_the_cache_in_a_folder_that_holds_other_files(self):
        self.file("mine.txt", "mine")
        env = {"FATLINK_CACHE_DIR": str(self.folder)}
        for verb in ("verify", "prune", "clear"):
            self.assertEqual(self.json("cache", verb, status=3, env=env)["schema"], "fatlink.error/1")

    def test_doctor(self):
        self.json("doctor")
        self.json("doctor", status=5, env={"FATLINK_NVJITLINK": "/nowhere"})
        self.json("doctor", status=5, env={"FATLINK_LINKD": "/nowhere"})
        self.file("mine.txt", "mine")
        self.json("doctor", env={"FATLINK_CACHE_DIR": str(self.folder), "FATLINK_SYSTEM_CACHE": str(self.folder)})
        self.assert_every_field_seen("doctor")

    def test_bench(self):
        output = self.json("bench", "--repeat", "1", "--elements", "1024", "--resources")
        self.assertEqual([row["mode"] for row in output["links"]], ["ptx", "lto"])
        self.assertIsNone(output["nvcc"])
        tiered = [TESTS / "corpus" / f"tiered_{name}.fatbin" for name in ("apply_transform", "relu_poly")]
        self.json("bench", "--repeat", "1", "--only", "first-launch", "--library", tiered[0], "--transform", tiered[1])
        if not has_nvrtc() or shutil.which(NVCC) is None:
            self.skipTest("no NVRTC, or FATLINK_NVCC names no nvcc")
        path = f"{pathlib.Path(NVCC).parent}:{os.environ['PATH']}"
        self.json("bench", "--repeat", "1", "--elements", "1024", "--transform", self.file("half.cu", HALF), env={"PATH": path})
        self.assert_every_field_seen("bench")


class Errors(JsonTest):
    def assert_error(self, code, status, *words, **options):
        with self.subTest(words=" ".join(map(str, words))):
            error = self.json(*words, status=status, **options)["error"]
            self.assertEqual(error["code"], code, error)
            return error

    def test_usage_errors_have_a_code(self):
        self.assert_error("unknown-command", 2, "rnu")
        self.assert_error("unknown-command", 2, "cache", "stat")
        self.assert_error("unknown-option", 2, "run", "--elemens", "3")
        self.assert_error("invalid-argument", 2, "run", "--elements", "many")
        self.assert_error("invalid-argument", 2, "link", "-o", "x", LIBRARY)
        self.assert_error("invalid-argument", 2)
        self.assert_error("unknown-device", 2, "run", "--device", "gpuu")
        self.assert_error("invalid-target", 2, "link", "--target", "sm_1", "-o", "x", LIBRARY)

    def test_file_errors_have_a_code(self):
        self.assert_error("not-installed", 3, "run", "--transform", "no_such_name")
        self.assert_error("unreadable-file", 3, "inspect", "/nowhere/x.fatbin")
        self.assert_error("unknown-form", 3, "inspect", self.file("text.fatbin", "text"))
        self.assert_error("not-a-fatbin", 3, "digest", self.file("text.fatbin", "text"))
        self.assert_error("empty-input", 3, "check", self.file("empty.fatbin", ""))

    @unittest.skipIf(json_schemas.jsonschema is None, "python3-jsonschema is not installed")
    def test_refused_links_have_the_code_of_the_finding(self):
        self.need_nvjitlink()
        error = self.assert_error("missing-hook", 4, "link", "--target", "sm_90", "-o", "x", LIBRARY)
        self.assertEqual([found["id"] for found in error["findings"]], ["missing-hook"])
        schema = json_schemas.load("error")
        seen = set(json_schemas.fields_in(self.outputs[-1], schema, "error"))
        self.assertEqual(set(json_schemas.fields(schema, "error")) - seen, set())

    def test_refused_compiles_have_a_code(self):
        if not has_nvrtc():
            self.skipTest("no NVRTC on this machine")
        self.assert_error("compile-failed", 4, "compile", self.file("bad.cu", "int 3;"), "-o", "x.fatbin")
        self.assert_error("header-not-found", 4, "compile", self.file("bad.cu", '#include "x.h"\n'), "-o", "x.fatbin")
        self.assert_error("missing-hook", 4, "compile", self.file("bad.cu", ""), "-o", "x.fatbin", *CONTRACT)
        self.assert_error("compile-timeout", 4, "compile", self.file("half.cu", HALF), "-o", "x.fatbin", "--no-cache",
                          "--timeout", "0.01")
        self.assert_error("invalid-source", 3, "compile", self.file("bad.cu", b"\xff"), "-o", "x.fatbin")

    def test_missing_software_has_a_code(self):
        link = ["link", "--target", "sm_90", "-o", "x", "--no-cache", LIBRARY, RELU]
        self.assert_error("nvjitlink-unavailable", 5, *link, env={"FATLINK_NVJITLINK": "/nowhere"})
        compile_half = ["compile", self.file("half.cu", HALF), "-o", "x.fatbin", "--no-cache"]
        self.assert_error("nvrtc-unavailable", 5, *compile_half, env={"FATLINK_NVRTC": "/nowhere"})
        self.need_nvjitlink()
        self.assert_error("helper-unavailable", 5, *link, env={"FATLINK_LINKD": "/nowhere"})
        if not gpus():
            self.assert_error("driver-unavailable", 5, "run", "--device", "gpu", "--library", LIBRARY, "--transform", RELU)


class Strictness(JsonTest):
    """The validation above fails where program and schema differ."""

    def test_a_field_that_the_schema_lacks_is_reported(self):
        output = self.json("list")
        for changed in ({**output, "more": 1}, {**output, "fatbins": [{**output["fatbins"][0], "more": 1}]}):
            self.assertTrue(json_schemas.messages(json_schemas.load("list"), changed))

    def test_a_property_removed_from_the_schema_is_reported(self):
        output = self.json("list")
        changes = list(json_schemas.without_each_property(json_schemas.load("list")))
        self.assertGreater(len(changes), 20)
        for name, schema in changes:
            if name != "problem" and name in json.dumps(output):
                with self.subTest(removed=name):
                    self.assertTrue(json_schemas.messages(schema, output))

    def test_a_required_field_that_the_program_leaves_out_is_reported(self):
        output = self.json("list")
        self.assertTrue(json_schemas.messages(json_schemas.load("list"), {"schema": output["schema"], "path": []}))
