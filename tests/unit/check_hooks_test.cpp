// SPDX-License-Identifier: Apache-2.0
// The checks of compiled LLVM IR that need no libNVVM.
#include "compiler/check_hooks.hpp"

#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

compile_subject const k_subject{.name = "src/sine.ll", .program_name = "sine.ll"};

/// A transform that calls __nv_sinf, which no module defines.
fatbin calling_libdevice()
{
  return input::from_bytes(
             fixtures::to_bytes(
                 ".version 9.0\n.target sm_75\n.address_size 64\n"
                 ".extern .func (.param .b32 r) __nv_sinf(.param .b32 x);\n"
                 ".visible .func (.param .b32 r) user_transform(.param .b32 x)\n{\n"
                 ".reg .f32 %f<3>;\nld.param.f32 %f1, [x];\n{\n.param .b32 a;\n.param .b32 b;\n"
                 "st.param.f32 [a], %f1;\ncall.uni (b), __nv_sinf, (a);\nld.param.f32 %f2, [b];\n"
                 "}\nst.param.f32 [r], %f2;\nret;\n}\n"),
             "t.ptx")
      .modules()
      .front();
}

}  // namespace

TEST(CheckLibdevice, SaysWhatToInstallIfItIsMissing)
{
  expect_error<unavailable_error>(
      [] { check_libdevice(calling_libdevice(), k_subject, ""); },
      "src/sine.ll: calls __nv_sinf of libdevice, and no libdevice.10.bc belongs to this libNVVM");
}

TEST(CheckLibdevice, NamesAFunctionThatItDoesNotHave)
{
  expect_error<compile_error>(
      [] { check_libdevice(calling_libdevice(), k_subject, "/x/libdevice.10.bc"); },
      "src/sine.ll: calls __nv_sinf, which libdevice does not have");
}

TEST(CheckIrText, RefusesTextWithoutCodeOrDataLayout)
{
  for (auto const* text : {"", "; a\n ; b"})
    expect_error<compile_error>([&] { check_ir_text(text, k_subject); },
                                "src/sine.ll: is empty: it defines no function");
  for (auto const* text : {"extern \"C\" __device__ float f(float x);", "int x;\n\n", "\n x"})
    expect_error<compile_error>([&] { check_ir_text(text, k_subject); },
                                "src/sine.ll: is not LLVM IR");
  expect_error<compile_error>([] { check_ir_text("; a\n\tdefine void @f() {", k_subject); },
                              "src/sine.ll: states no target datalayout");
  expect_error<compile_error>([] { check_ir_text("define void @f() {", k_subject); },
                              "src/sine.ll: states no target datalayout");
}
