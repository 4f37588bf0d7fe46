# SPDX-License-Identifier: Apache-2.0
"""Archives: which members are linked, whatever their order, and what is reported of the others."""
import json
import pathlib

from fatlink_cli import CliTest

FORMS = pathlib.Path(__file__).parent.parent / "fixtures" / "forms"


def ptx(*declarations):
    return ".version 8.0\n.target sm_75\n.address_size 64\n" + "\n".join(declarations) + "\n"


def declared(hook):
    return f".extern .func (.param .b32 r) {hook} (.param .b32 x);"


def function(name, linkage=".visible"):
    return (f"{linkage} .func (.param .b32 r) {name} (.param .b32 x)\n"
            "{ .reg .b32 %v; ld.param.b32 %v, [x]; st.param.b32 [r], %v; ret; }")


def kernel(name, hook):
    """Applies `hook` to the first element."""
    return (declared(hook) + f"""
.visible .entry {name} (.param .u64 in, .param .u64 out, .param .u64 n)
{{
  .reg .b64 %a, %b; .reg .b32 %v, %i; .reg .pred %p;
  mov.u32 %i, %tid.x; setp.ne.u32 %p, %i, 0; @%p ret;
  ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.global.b32 %v, [%a];
  {{ .param .b32 x; .param .b32 r; st.param.b32 [x], %v; call.uni (r), {hook}, (x); ld.param.b32 %v, [r]; }}
  st.global.b32 [%b], %v; ret;
}}""")


def ar(**members):
    """An archive of members: h_o is named h.o, and h_o__2 is another h.o."""
    content = b"!<arch>\n"
    for name, text in members.items():
        data = text if isinstance(text, bytes) else text.encode()
        shown = name.split("__")[0].replace("_", ".") + "/"
        content += f"{shown:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return content


class Archives(CliTest):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", ptx(kernel("k1", "h1")))
        self.file("liba.a", ar(h_o=ptx(function("h1")), other_o=ptx(function("other"))))

    def link(self, *inputs, status=0, options=()):
        return self.fatlink("link", "--mode", "ptx", "--target", "sm_90", *options, "-o", "o.cubin", *inputs, status=status)

    def refused(self, finding, *inputs, says=(), hint="hint:", options=()):
        done = self.assert_fails(4, "link", "--mode", "ptx", "--target", "sm_90", "-o", "o.cubin", *options, *inputs,
                                 says=[f"[{finding}]", *says], hint=hint)
        checked = self.check(*inputs, options=options, status=4)
        self.assertEqual(checked["findings"][0]["id"], finding)
        return done

    def check(self, *inputs, options=(), status=0):
        said = self.fatlink_json("check", "--mode", "ptx", "--target", "sm_90", *options, *inputs, status=status)
        return said["targets"][0]

    def kernels(self):
        return [entry["kernels"] for entry in self.fatlink_json("inspect", "o.cubin")["files"][0]["entries"]]


class Members(Archives):
    def test_two_archives_that_define_one_hook_are_refused_in_any_order(self):
        self.file("libb.a", ar(g_o=ptx(function("h1"))))
        for first, second in (("liba.a", "libb.a"), ("libb.a", "liba.a")):
            done = self.refused("duplicate-symbol", "k.ptx", first, second, says=["h1 is defined by "],
                                hint="pass one of the two, or remove a member from its archive: ar d lib")
            self.assertEqual(done.stderr.count("[duplicate-symbol]"), 1)

    def test_two_members_of_one_archive_name_the_command_that_removes_one(self):
        self.file("libb.a", ar(g_o=ptx(function("h1")), i_o=ptx(function("h1"))))
        self.refused("duplicate-symbol", "k.ptx", "libb.a", says=["h1 is defined by libb.a(g.o) and by libb.a(i.o)"],
                     hint="remove one of the two from the archive: ar d libb.a i.o")
        self.file("libb.a", ar(g_o=ptx(function("h1")), g_o__2=ptx(function("h1"))))
        self.refused("duplicate-symbol", "k.ptx", "libb.a", says=["h1 is defined by libb.a(g.o) and by libb.a(g.o#2)"],
                     hint="remove one of the two from the archive: ar dN 2 libb.a g.o")

    def test_a_file_that_is_passed_twice_is_to_be_passed_once(self):
        self.file("h.ptx", ptx(function("h1")))
        self.refused("duplicate-symbol", "k.ptx", "h.ptx", "h.ptx", says=["h1 is defined by h.ptx, and h.ptx is passed twice"],
                     hint="pass h.ptx once")

    def test_kernels_of_an_archive_are_linked_wherever_it_stands(self):
        self.file("libk.a", ar(k_o=ptx(kernel("k1", "h1")), l_o=ptx(kernel("k2", "h1"))))
        for inputs in (["libk.a", "liba.a"], ["liba.a", "libk.a"]):
            self.link(*inputs)
            self.assertEqual(sum(map(len, self.kernels())), 2, inputs)
            self.assertTrue(self.check(*inputs)["links"])

    def test_a_misspelt_kernel_of_an_archive_is_the_only_error(self):
        self.file("libk.a", ar(k_o=ptx(kernel("k1", "h1"))))
        done = self.refused("unknown-kernel", "libk.a", "liba.a", options=["--kernel", "k9"], hint="did you mean k1?")
        self.assertNotIn("missing-hook", done.stderr)

    def test_the_cxx_name_of_a_kernel_is_suggested(self):
        self.file("libk.a", ar(k_o=ptx(kernel("_Z4kcppPf", "h1"))))
        self.refused("unknown-kernel", "libk.a", "liba.a", options=["--kernel", "kcpp"],
                     hint='_Z4kcppPf is its C++ name: pass _Z4kcppPf, or declare it extern "C"')

    def test_a_strong_definition_of_an_archive_replaces_a_weak_default_as_one_of_an_object_does(self):
        self.file("weak.ptx", ptx(function("h1", ".weak"), kernel("k1", "h1").split("\n", 1)[1]))
        self.file("h.ptx", ptx(function("h1")))
        images = []
        for inputs in (["weak.ptx", "h.ptx"], ["weak.ptx", "liba.a"], ["weak.ptx"]):
            self.link(*inputs)
            images.append((self.folder / "o.cubin").read_bytes())
        self.assertEqual(images[0], images[1])

    def test_raw_ltoir_in_an_archive_lacks_ptx_in_ptx_mode(self):
        self.file("libh.a", ar(h_ltoir=(FORMS / "transform.ltoir").read_bytes()))
        self.file("user.ptx", ptx(kernel("k1", "user_transform")))
        self.refused("no-ptx", "user.ptx", "libh.a", says=["libh.a(h.ltoir) holds no PTX"])

    def test_a_member_that_defines_the_hook_under_its_cxx_name_is_named(self):
        self.file("libb.a", ar(g_o=ptx(function("_Z2h1f"))))
        self.refused("missing-hook", "k.ptx", "libb.a", hint='_Z2h1f is its C++ name: declare the definition extern "C"')


class Reports(Archives):
    def test_an_archive_of_which_nothing_is_linked(self):
        self.file("h.ptx", ptx(function("h1")))
        done = self.link("k.ptx", "h.ptx", "liba.a")
        self.assertIn("fatlink: warning: liba.a is not linked: ", done.stderr)
        self.assertIn("[unused-input]", done.stderr)
        self.assertEqual([finding["files"] for finding in self.check("k.ptx", "h.ptx", "liba.a")["findings"]
                          if finding["id"] == "unused-input"], [["liba.a"]])
        self.assertNotIn("unused-input", self.link("k.ptx", "liba.a").stderr)

    def test_check_judges_the_members_that_a_link_takes_with_the_installed_library(self):
        self.file("libt.a", ar(t_o=ptx(function("user_transform")), n_o=ptx(kernel("unneeded", "nowhere").split("\n.visible")[0],
                                                                          function("needs"))))
        said = self.check("libt.a")
        self.assertEqual(said["library"]["name"], "apply_transform")
        self.assertTrue(said["links"])
        self.assertNotIn("libt.a(n.o)", json.dumps(said))

    def test_all_members_without_digests_in_one_warning(self):
        members = {f"m{index}_o": ptx(function(f"h{index}")) for index in range(1, 4)}
        self.file("libm.a", ar(**members))
        self.file("k.ptx", ptx(*(kernel(f"k{index}", f"h{index}") for index in range(1, 4))))
        found = [finding for finding in self.check("k.ptx", "libm.a")["findings"] if finding["id"] == "unverified-bytes"]
        self.assertEqual([finding["files"] for finding in found],
                         [["k.ptx"], ["libm.a(m1.o)", "libm.a(m2.o)", "libm.a(m3.o)"]])
        self.assertIn("libm.a (3 modules: libm.a(m1.o), libm.a(m2.o), libm.a(m3.o)) states no digest", found[1]["message"])

    def test_check_says_what_it_did_not_see(self):
        text = self.fatlink("check", "--mode", "lto", "apply_transform", FORMS / "transform.ltoir").stdout
        self.assertRegex(text, r"sm_90 +lto  links, as far as can be checked: only the link reads the symbols of \S*transform.ltoir\n")
        said = self.fatlink_json("check", "--mode", "lto", "apply_transform", FORMS / "transform.ltoir")
        self.assertEqual(said["targets"][0]["unseen"], [str(FORMS / "transform.ltoir")])

    def test_inspect_shows_members_of_one_name_apart(self):
        self.file("libb.a", ar(g_o=ptx(function("h1")), g_o__2=ptx(function("h2"))))
        lines = self.fatlink("inspect", "libb.a").stdout.splitlines()
        self.assertIn("  libb.a(g.o)", lines)
        self.assertIn("  libb.a(g.o#2)", lines)

    def test_inspect_shows_the_units_of_an_object(self):
        self.file("t.o", (FORMS / "two_units.o").read_bytes())
        self.assertIn("  t.o[2]", self.fatlink("inspect", "t.o").stdout.splitlines())


class Runs(Archives):
    def run_k(self, *words, status=0, **options):
        return self.fatlink("run", "--device", "cpu", "--mode", "ptx", "--elements", "1", *words, status=status, **options)

    def test_a_library_archive_of_several_kernels_needs_the_name_of_one(self):
        for members in ({"a_o": ptx(kernel("k1", "h1")), "b_o": ptx(kernel("k2", "h1"))},
                        {"b_o": ptx(kernel("k2", "h1")), "a_o": ptx(kernel("k1", "h1"))}):
            self.file("libk.a", ar(**members))
            self.assert_fails(2, "run", "--device", "cpu", "--mode", "ptx", "--library", "libk.a", "--transform", "liba.a",
                              says=["libk.a has 2 kernels, none of them apply_transform: name the kernel to execute"],
                              hint="--kernel k1")
        self.assertIn("Library libk, kernel k2, transform liba: out[i] = f(in[i])\n",
                      self.run_k("--library", "libk.a", "--transform", "liba.a", "--kernel", "k2").stdout)

    def test_the_reference_of_an_archive_of_several_members_is_used(self):
        self.file("k.ptx", ptx(kernel("k1", "h1")))
        self.file("liba.a", ar(h_o=ptx(declared("g1"), function("h1")), g_o=ptx(function("g1"))))
        stated = {"name": "same", "summary": "x", "hook": "h1", "reference": "x", "tolerance_ulp": 0}
        self.file("liba.json", json.dumps(stated))
        said = json.loads(self.run_k("--library", "k.ptx", "--transform", "liba.a", "--json").stdout)
        self.assertEqual(said["modes"][0]["verified"], True)

    def test_a_sidecar_of_another_file_is_not_said_to_be_absent(self):
        self.file("liba.fatbin", b"")
        self.file("liba.json", json.dumps({"sha256": "0" * 64}))
        self.assertIn("; liba.json is the .json of a file other than liba.a\n",
                      self.run_k("--library", "k.ptx", "--transform", "liba.a").stdout)


class JsonOfOtherPrograms(Archives):
    def test_is_not_a_sidecar(self):
        for content in ("[1]", '{"traceEvents": []}', '{"name": "package"}', "{" + " " * (1 << 21), "text"):
            for name in ("liba.json", "liba.a.json", "k.json"):
                with self.subTest(content=content[:20], name=name):
                    path = self.file(name, content)
                    self.link("k.ptx", "liba.a")
                    path.unlink()
