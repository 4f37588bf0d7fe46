// SPDX-License-Identifier: Apache-2.0
// malloc and free in device code.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {
namespace {

constexpr char const* k_heap =
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n";

/// Writes to %rd<target> the address of `bytes` bytes.
std::string allocate(std::string const& bytes, std::string const& target)
{
  return "{ .param .b64 n; .param .b64 r; st.param.b64 [n], " + bytes +
         "; call (r), malloc, (n); ld.param.b64 " + target + ", [r]; }\n";
}

std::string release(std::string const& address)
{
  return "{ .param .b64 p; st.param.b64 [p], " + address + "; call free, (p); }\n";
}

class Heap : public Ptx {
 protected:
  [[nodiscard]] values run_body(std::string const& body, std::uint32_t threads = 4)
  {
    return run({{"a.ptx", k_heap + kernel_of(body)}}, threads);
  }
};

}  // namespace

TEST_F(Heap, GivesEachThreadItsOwnMemory)
{
  EXPECT_EQ(
      run_body(allocate("24", "%rd5") + "st.u32 [%rd5+20], %t;" + allocate("24", "%rd6") +
               "st.u32 [%rd6+20], 77; ld.u32 %v, [%rd5+20];" + release("%rd5") + release("%rd6")),
      (values{0, 1, 2, 3}));
}

TEST_F(Heap, ReusesMemoryThatIsFreed)
{
  EXPECT_EQ(
      run_body("mov.u32 %v, 0;\n$l: " + allocate("8388608", "%rd5") + "st.u32 [%rd5], %v; " +
                   release("%rd5") + "add.u32 %v, %v, 1; setp.lt.u32 %p1, %v, 9; @%p1 bra $l;",
               1),
      values{9});
}

TEST_F(Heap, ReturnsNullWhenItIsFull)
{
  EXPECT_EQ(run_body(allocate("16777216", "%rd5") + allocate("1", "%rd6") +
                         "setp.eq.u64 %p1, %rd6, 0; selp.u32 %v, 1, 0, %p1; setp.eq.u64 %p2, %rd5, "
                         "0; @%p2 mov.u32 %v, 2;" +
                         allocate("0xFFFFFFFFFFFFFFFF", "%rd7") +
                         "setp.ne.u64 %p1, %rd7, 0; @%p1 mov.u32 %v, 3;",
                     1),
            values{1});
}

TEST_F(Heap, FindsMemoryThatIsFreedTwice)
{
  expect_failure(error_kind::address,
                 "frees memory that malloc did not return, or that is free already",
                 {{"a.ptx", k_heap + kernel_of(allocate("8", "%rd5") + release("%rd5") +
                                               release("0") + release("%rd5"))}});
}

TEST_F(Heap, FunctionsMayBeDeclaredTwice)
{
  EXPECT_EQ(
      run({{"a.ptx", std::string(k_heap) + k_heap +
                         kernel_of(allocate("8", "%rd5") + release("%rd5") + "mov.u32 %v, 1;")}},
          1),
      values{1});
}

TEST_F(Heap, CallsHaveTheTypesOfMallocAndFree)
{
  expect_failure(error_kind::prototype, "the arguments are not those of free",
                 {{"a.ptx", k_heap + kernel_of("{ .param .b32 p; call free, (p); }")}});
  expect_failure(error_kind::prototype, "the result is not that of malloc",
                 {{"a.ptx", k_heap + kernel_of("{ .param .b32 r; .param .b64 n; call (r), malloc, "
                                               "(n); }")}});
}

}  // namespace fatlink::interpreter
