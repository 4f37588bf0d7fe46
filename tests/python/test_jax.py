# SPDX-License-Identifier: Apache-2.0
"""Operators of JAX on the CPU. test_xla.py has the handlers of custom calls without JAX, tests/gpu/test_jax.py GPUs."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
from fatlink_cli import SANITIZED  # noqa: E402
from jax_operators_suite import CUBE, CUBE_GRADIENT, PRODUCT_GRADIENTS, Batches, Gradients, JaxCase, Results  # noqa: E402
from python_case import PACKAGE, SOURCE, fatlink, numpy, variables  # noqa: E402

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


class CpuCase(JaxCase):
    def run_python(self, script, **environment):
        """What a process prints."""
        done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=300, env={
            **os.environ, **variables(), "PYTHONPATH": f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}", **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class CpuResults(Results, JaxCase):
    pass


class CpuGradients(Gradients, JaxCase):
    pass


class CpuBatches(Batches, JaxCase):
    pass


SHARDED = """
import jax, numpy
import fatlink.jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
x = jax.device_put(jax.numpy.arange(64.0), NamedSharding(mesh, P("d")))
product = fatlink.jax.operator("map", "multiply", gradient=PRODUCT_GRADIENTS)
total, scan, sort = fatlink.jax.operator("reduce"), fatlink.jax.operator("scan"), fatlink.jax.operator("sort", "greater")

def sharded(function, inputs=P("d"), outputs=P("d")):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs))

norm = sharded(lambda x: jax.lax.psum(total(product(x, x)), "d"), outputs=P())
print(float(norm(x)), numpy.array_equal(jax.grad(norm)(x), 2 * x))
print(sharded(sort)(x).tolist()[:3], sharded(jax.vmap(scan))(x.reshape(8, 8))[7].tolist()[:2])
print(jax.grad(lambda x: (sharded(sort)(x) * x).sum())(x).tolist()[:3])
weighted = sharded(product, (P("d"), P()))  # the second array is equal on all devices
print(jax.grad(lambda w: weighted(x, w).sum())(jax.numpy.ones(16)).tolist()[:3])
print(jax.jit(scan)(x).tolist()[-1])  # gathers the array first
"""


class Processes(CpuCase):
    def test_with_types_of_64_bits(self):
        script = "import jax, fatlink.jax\njax.config.update('jax_enable_x64', True)\nx = jax.numpy.arange(9.0)\n" \
                 "print(fatlink.jax.operator('sort', 'greater')(x)[0], fatlink.jax.operator('reduce')(x.astype('int8')).dtype)"
        self.assertEqual(self.run_python(script), "8.0 int64\n")

    def test_with_several_devices(self):
        printed = self.run_python(f"PRODUCT_GRADIENTS = {PRODUCT_GRADIENTS}{SHARDED}",
                                  XLA_FLAGS="--xla_force_host_platform_device_count=4")
        self.assertEqual(printed, "85344.0 True\n[15.0, 14.0, 13.0] [56.0, 113.0]\n[30.0, 28.0, 26.0]\n"
                                  "[96.0, 100.0, 104.0]\n2016.0\n")

    def test_name_calls_by_their_contents(self):
        """Programs in JAX's cache are executed by other processes."""
        script = "import jax, fatlink.jax\nfor op in {}:\n    program = jax.jit(fatlink.jax.operator('reduce', op))\n" \
                 "    print(*[line for line in program.lower(jax.numpy.ones(3)).as_text().splitlines() if 'custom_call' in line])"
        first, second = (self.run_python(script.format(ops)).splitlines() for ops in (["add", "max"], ["max", "add"]))
        self.assertEqual(first, second[::-1])
        self.assertRegex(first[0], 'call = "reduce_4 [0-9a-f]{64}"')
        self.assertNotEqual(*first)


class Refusals(JaxCase):
    def test_of_definitions(self):
        for arguments, options, says, hint in (
                (("select", "positive"), {}, "algorithm is 'select'", "map, reduce, scan, exclusive_scan, sort"),
                ((7,), {}, "algorithm is 7", "map, reduce"), (("map",), {}, "op is None", "CUDA source"), (("reduce", 3), {}, "op is 3", ""),
                (("scan", "add"), {"init": 1}, "init is not an argument of scan", "scan takes backward, dtype, mode"),
                (("sort",), {"gradient": "negate"}, "gradient is not an argument of sort", "pass backward="),
                (("map", "square"), {"gradient": CUBE_GRADIENT, "backward": print}, "gradient and backward", "leave out one"),
                (("reduce",), {"mode": "fast"}, "mode is 'fast'", ""),
                (("map", "square"), {"gradient": (None, None, None)}, "an operator of four", "pass backward="),
                (("map", "square"), {"dtype": "float33"}, "dtype is 'float33'", "numpy.dtype()")):
            with self.subTest(says=says):
                self.assert_error(fatlink.UsageError, self.operator, *arguments, says=says, hint=hint, **options)

    def test_of_calls(self):
        square, rows = self.operator("map", "square", gradient=CUBE_GRADIENT), self.array[:1000].reshape(10, 100)
        for function, arrays, says in (
                (square, (), "map was given 0 arrays"), (square, (self.array,) * 4, "map was given 4 arrays"),
                (square, (self.array,) * 2, "map was given 2 arrays; gradient has an operator for 1"),
                (self.operator("map", "add"), (self.array, self.array[1:]), "y has the shape (1002,), x has (1003,)"),
                (self.operator("map", "sqaure"), (self.array,), "did you mean 'square'"), (self.operator("scan"), (rows,), "one dimension"),
                (self.operator("sort"), (rows,), "one dimension"), (self.operator("sort"), (self.array,) * 2, "was given 2 arrays"),
                (self.operator("map", "square"), (self.jax.numpy.ones(3, "float8_e4m3fn"),), "float8_e4m3fn"),
                (self.operator("map", "FATLINK_MAP1(double, float, x) { return x; }"), (self.array,), "JAX makes no arrays of float64"),
                (self.operator("reduce", "square"), (self.array,), "square")):
            with self.subTest(says=says):
                with self.assertRaises(fatlink.Error) as raised:
                    self.jax.jit(function)(*arrays)
                self.assertIn(says, str(raised.exception))
                self.assertTrue(raised.exception.hint)

    def test_of_kernels_that_fail(self):
        with self.assertRaises(Exception) as raised:
            trap = self.operator("map", "FATLINK_MAP1(float, float, x) { if (x > 49) __trap(); return x; }")
            self.jax.jit(trap)(self.array).block_until_ready()
        for part in ("fatlink: ", "trap", "hint: "):
            self.assertIn(part, str(raised.exception))

    def test_of_names_of_other_processes(self):
        self.operator("map", "square")(self.array)
        call = self.jax.ffi.ffi_call("fatlink", self.jax.ShapeDtypeStruct((3,), numpy.float32))
        with self.assertRaises(Exception) as raised:
            self.jax.block_until_ready(call(self.array[:3], call="map1 of another process"))
        self.assertIn("this process has no operator map1 of another process", str(raised.exception))
        self.assertIn("define the operator with the same arguments", str(raised.exception))


LAYOUT = """
#include <xla/ffi/api/c_api.h>
#include "c_interface/xla_ffi.hpp"
namespace own = fatlink::c::xla;
#define SAME(type, member, xla_type, xla_member) \\
  static_assert(offsetof(own::type, member) == offsetof(xla_type, xla_member) && \\
                sizeof(own::type::member) == sizeof(xla_type::xla_member), #type "." #member);
static_assert(own::k_major == XLA_FFI_API_MAJOR && own::k_first_minor <= XLA_FFI_API_MINOR);
static_assert(own::k_metadata == XLA_FFI_Extension_Metadata && own::k_buffer == XLA_FFI_ArgType_BUFFER &&
              own::k_buffer == XLA_FFI_RetType_BUFFER && own::k_string == XLA_FFI_AttrType_STRING);
static_assert(own::k_initialize == XLA_FFI_ExecutionStage_INITIALIZE && own::k_execute == XLA_FFI_ExecutionStage_EXECUTE);
static_assert(own::k_command_buffers == XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);
static_assert(own::k_error_size == XLA_FFI_Error_Create_Args_STRUCT_SIZE && own::k_ordinal_size == XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE &&
              sizeof(own::stream_arguments) == XLA_FFI_Stream_Get_Args_STRUCT_SIZE && sizeof(own::frame) == XLA_FFI_CallFrame_STRUCT_SIZE);
static_assert(sizeof(own::extension) == sizeof(XLA_FFI_Metadata_Extension::extension_base));
"""
# The members of fatlink's structs, each with its name in XLA's struct XLA_FFI_… if that is another one.
HEAD = "struct_size extensions=extension_start"
STRUCTS = (
    ("api_version", "Api_Version", f"{HEAD} major=major_version minor=minor_version"),
    ("error_arguments", "Error_Create_Args", f"{HEAD} message code=errc"),
    ("stream_arguments", "Stream_Get_Args", f"{HEAD} context=ctx stream"),
    ("ordinal_arguments", "DeviceOrdinal_Get_Args", f"{HEAD} context=ctx ordinal=device_ordinal"),
    ("api", "Api", f"{HEAD} version=api_version create_error=XLA_FFI_Error_Create get_stream=XLA_FFI_Stream_Get get_ordinal=XLA_FFI_DeviceOrdinal_Get"),
    ("bytes", "ByteSpan", "address=ptr size=len"),
    ("buffer", "Buffer", f"{HEAD} type=dtype data rank extents=dims"),
    ("buffers", "Args", f"{HEAD} count=size kinds=types entries=args"),
    ("buffers", "Rets", f"{HEAD} count=size kinds=types entries=rets"),
    ("attributes", "Attrs", f"{HEAD} count=size kinds=types names entries=attrs"),
    ("frame", "CallFrame", f"{HEAD} api context=ctx stage operands=args results=rets attributes=attrs"),
    ("metadata", "Metadata", "struct_size version=api_version traits"),
    ("metadata_extension", "Metadata_Extension", "metadata"))


def assertions_of_members():
    for own, xla, members in STRUCTS:
        for member in members.split():
            name, _, other = member.partition("=")
            yield f"SAME({own}, {name}, XLA_FFI_{xla}, {other or name})\n"


@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the sources")
@unittest.skipUnless(COMPILER, "no C++ compiler on this machine")
@unittest.skipIf(SANITIZED, "compiles without sanitizers")
class Layout(JaxCase):
    def test_of_structs_is_that_of_the_installed_header(self):
        from xla_frames import TYPES
        path = self.folder / "layout.cpp"
        names = {"bool": "PRED", "bfloat16": "BF16", "complex64": "C64", "complex128": "C128"}
        types = "".join(f"static_assert({number} == XLA_FFI_DataType_{names.get(name) or name[0].upper().replace('I', 'S') + name.lstrip('uintfloa')});\n"
                        for name, number in {**TYPES, "bfloat16": 16}.items())
        path.write_text(LAYOUT + "".join(assertions_of_members()) + types)
        done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", "-I", self.jax.ffi.include_dir(), "-I",
                               pathlib.Path(SOURCE, "host/src"), path], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
