// SPDX-License-Identifier: Apache-2.0
// Runs PTX written by hand on the reference device.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "interpreter/machine.hpp"

namespace fatlink::interpreter {

inline constexpr char const* k_header = ".version 9.0\n.target sm_90\n.address_size 64\n";

struct source {
  std::string name;
  std::string text;
};

/// The kernel `k(.param .u64 out)` with the body `body`, which writes the result out[%tid.x] to %v.
inline std::string kernel_of(std::string const& body)
{
  return ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b32 %v, %t; .reg .b64 %rd<9>;"
         ".reg .f32 %f<9>; .reg .f64 %fd<9>;\n"
         "mov.u32 %t, %tid.x;\n" +
         body +
         "\nld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %t, 4; add.s64 %rd3, %rd1, %rd2;\n"
         "st.global.u32 [%rd3], %v;\nret;\n}\n";
}

/// A variadic function: returns the sum of the `count` 32-bit numbers that follow.
inline constexpr char const* k_sum =
    ".visible .func (.param .b32 r) sum(.param .b32 count, .param .align 8 .b8 %VAParam[])\n{\n"
    ".reg .pred %p1; .reg .b32 %n, %s, %x; .reg .b64 %a;\n"
    "ld.param.u32 %n, [count]; mov.u64 %a, %VAParam; mov.u32 %s, 0;\n"
    "$l: setp.eq.u32 %p1, %n, 0; @%p1 bra $e; ld.local.u32 %x, [%a]; add.u32 %s, %s, %x;\n"
    "add.s64 %a, %a, 4; sub.u32 %n, %n, 1; bra $l;\n"
    "$e: st.param.b32 [r], %s; ret; }\n";

class Ptx : public testing::Test {
 protected:
  /// Links `sources`, runs their kernel k with a block of `threads` threads and returns out.
  std::vector<std::uint32_t> run(std::vector<source> const& sources, std::uint32_t threads,
                                 std::uint64_t budget = 100'000)
  {
    std::vector<std::string> texts;
    for (auto const& [name, text] : sources)
      texts.push_back(text.starts_with(".version") ? text : k_header + text);
    std::vector<module_text> modules;
    for (std::size_t i = 0; i < sources.size(); ++i) modules.push_back({texts[i], sources[i].name});
    program program(memory_, modules);
    auto const out = memory_->allocate(threads * 4);
    auto const address = out.base;
    std::array const arguments{std::as_bytes(std::span(&address, 1))};
    std::vector<std::span<std::byte const>> const spans(arguments.begin(), arguments.end());
    launch(program, program.find("k"), {.block = {threads, 1, 1}, .budget = budget}, spans);
    std::vector<std::uint32_t> values(threads);
    std::memcpy(values.data(), out.data, threads * 4);
    memory_->release(out.base);
    return values;
  }

  std::vector<std::uint32_t> run(std::string const& body, std::uint32_t threads = 4)
  {
    return run({{"a.ptx", kernel_of(body)}}, threads);
  }

  void expect_failure(error_kind kind, std::string const& message,
                      std::vector<source> const& sources, std::uint64_t budget = 100'000,
                      std::uint32_t threads = 4)
  {
    try {
      run(sources, threads, budget);
      ADD_FAILURE() << "no failure; expected " << message;
    } catch (code_error const& failed) {
      EXPECT_EQ(static_cast<int>(failed.kind()), static_cast<int>(kind)) << failed.what();
      EXPECT_THAT(failed.what(), testing::HasSubstr(message));
    }
  }

  void expect_failure(error_kind kind, std::string const& message, std::string const& body)
  {
    expect_failure(kind, message, {{"a.ptx", kernel_of(body)}});
  }

  std::shared_ptr<memory> memory_ = std::make_shared<memory>();
};

using values = std::vector<std::uint32_t>;

}  // namespace fatlink::interpreter
