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
