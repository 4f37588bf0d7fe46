// SPDX-License-Identifier: Apache-2.0
// The messages of the reference device are one line of printable text, whatever names and texts
// the PTX has.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "ptx_fixture.hpp"

namespace fatlink::interpreter {
namespace {

/// A name of a module with a line break and an escape sequence.
constexpr char const* k_name = "a\n\x1b[2J\xff.ptx";

struct faulty {
  error_kind kind;
  std::string text;
  launch_options options = {.block = {64, 1, 1}, .budget = 10'000};
};

std::string const k_store =
    ".shared .align 4 .b8 buffer[512];\nmov.u32 %r1, buffer; shl.b32 %r2, %t, 2;\n"
    "add.u32 %r1, %r1, %r2;\n";

std::vector<faulty> faults()
{
  launch_options const races{.block = {64, 1, 1}, .check_races = true};
  launch_options const reads{.block = {64, 1, 1}, .check_initialization = true};
  return {
      {error_kind::syntax, kernel_of("mov.u32\n\t%v %v;") + "\n\x1b}"},
      {error_kind::refused, kernel_of("tcgen05.alloc\n\t.cta_group::1 [%rd1],\r\n 32;")},
      {error_kind::invalid, kernel_of("add.f32\n\t%f1,\n %f1, %fd1;")},
      {error_kind::unresolved, ".extern .func g();\n" + kernel_of("call\n g;")},
      {error_kind::duplicate,
       ".visible .func g() { ret; }\n.visible .func g() { trap; }\n" + kernel_of("call g;")},
      {error_kind::prototype, k_sum + kernel_of("call\n\tsum;")},
      {error_kind::no_kernel, ".visible .entry other() { ret; }"},
      {error_kind::launch, kernel_of("mov.u32 %v, 1;"), {.block = {2048, 1, 1}}},
      {error_kind::address, kernel_of("ld.global.u32\n %v,\t[16];")},
      {error_kind::endless, kernel_of("l: add.u32 %v, %v,\n 1; bra\n l;")},
      {error_kind::deadlock, kernel_of("setp.lt.u32 %p1, %t, 32; @%p1 bar.sync\n 0, 96;\n"
                                       "mov.u32 %v, 1;")},
      {error_kind::trap, kernel_of("trap\n;")},
      {error_kind::race,
       kernel_of(k_store + "st.shared.u32\n [%r1], %t; xor.b32 %r1, %r1, 128;\n"
                           "ld.shared.u32 %v,\n [%r1];"),
       races},
      {error_kind::uninitialized, kernel_of(k_store + "ld.shared.u32\n %v, [%r1];"), reads},
  };
}

bool is_one_line(std::string_view text)
{
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

class FailureLines : public Ptx {
 protected:
  /// The failure of the kernel k of `source`.
  std::optional<code_error> failure_of(faulty const& source)
  {
    try {
      auto const text = k_header + source.text;
      module_text const module{text, k_name};
      program program(memory_, {&module, 1});
      auto const out = memory_->allocate(4096);
      std::array const arguments{std::as_bytes(std::span(&out.base, 1))};
      launch(program, program.find("k"), source.options, arguments);
    } catch (code_error const& failed) {
      return failed;
    }
    return std::nullopt;
  }
};

}  // namespace

TEST_F(FailureLines, AreOneLineOfPrintableTextForEveryKind)
{
  for (auto const& source : faults()) {
    auto const failed = failure_of(source);
    ASSERT_TRUE(failed.has_value()) << source.text;
    EXPECT_EQ(static_cast<int>(failed->kind()), static_cast<int>(source.kind)) << failed->what();
    EXPECT_TRUE(is_one_line(failed->what())) << failed->what();
  }
}

TEST_F(FailureLines, OfMemoryAreOneLineToo)
{
  try {
    (void)memory_->allocate(std::numeric_limits<std::uint64_t>::max() / 2);
    ADD_FAILURE() << "no failure";
  } catch (code_error const& failed) {
    EXPECT_TRUE(is_one_line(failed.what())) << failed.what();
  }
}

TEST_F(FailureLines, EscapeWhatIsNotPrintable)
{
  EXPECT_STREQ(code_error(error_kind::trap, "\n a \t\r\n b  c\x1b[2J\n").what(), "a b c\\x1b[2J");
  EXPECT_STREQ(code_error(error_kind::trap, "caf\xc3\xa9 \xff").what(), "caf\xc3\xa9 \\xff");
  EXPECT_STREQ(code_error(error_kind::trap, "").what(), "");
}

}  // namespace fatlink::interpreter
