// SPDX-License-Identifier: Apache-2.0
// Kernels and their launches on the reference device: what is refused, and that printing does not
// end the host.
#include "fatlink/kernel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <limits>
#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "reference_device_fixture.hpp"

using namespace fatlink;

namespace {

constexpr std::string_view k_printing_ptx = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry say()
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd2, %rd1;
  {
  .param .b64 param0;
  st.param.b64 [param0+0], %rd2;
  .param .b64 param1;
  st.param.b64 [param1+0], 0;
  .param .b32 retval0;
  call.uni (retval0), vprintf, (param0, param1);
  ld.param.b32 %r1, [retval0+0];
  }
  ret;
}
)";

class KernelMisuse : public fixtures::reference_device_test {};

}  // namespace

TEST_F(KernelMisuse, RefusesLaunchesThatNoDeviceTakes)
{
  auto const buffer = device_->allocate<int>(1);
  auto const code = device_->load(image()).kernel<void(int*)>("store");
  auto const s = device_->create_stream();
  constexpr auto k_most = std::numeric_limits<unsigned>::max();
  for (auto const& [grid, block] :
       std::vector<std::pair<extent, extent>>{{0, 1},
                                              {1, 0},
                                              {{1, 0}, 1},
                                              {{1, 1, 0}, 1},
                                              {1, {1, 0}},
                                              {1, {1, 1, 0}},
                                              {k_most, 1},
                                              {{k_most, k_most, k_most}, 1},
                                              {{1, 65536}, 1},
                                              {1, 1025},
                                              {1, {32, 33}},
                                              {1, {1, 1, 65}},
                                              {1, {k_most, k_most, k_most}}})
    expect_error<device_error>(
        [&, g = grid, b = block] {
          code.launch(s, {g, b, 0}, buffer.data());
        },
        "kernel store");
  expect_error<device_error>(
      [&] {
        code.launch(s, {1, 1, k_most}, buffer.data());
      },
      "dynamic shared memory");
}

TEST_F(KernelMisuse, RefusesABlockOfNoThreadsForElements)
{
  expect_error<usage_error>([&] { (void)elementwise_shape(10, 0); }, "block");
  auto const largest = elementwise_shape(std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(largest.grid.x, 0x7FFFFFFFU);
}

TEST_F(KernelMisuse, PrintsToAStandardErrorWithoutAReaderWithoutEndingTheHost)
{
  auto const child = ::fork();
  if (child == 0) {
    std::array<int, 2> ends{};
    (void)!::pipe(ends.data());
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    auto const reference = open_device("cpu");
    auto s = reference->create_stream();
    reference->load(image(k_printing_ptx)).kernel<void()>("say").launch(s, {});
    s.synchronize();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(KernelMisuse, RefusesTypesOfAnotherSize)
{
  auto const module = device_->load(image());
  expect_error<usage_error>([&] { (void)module.kernel<void(int)>("store"); }, "of 8 bytes");
  expect_error<usage_error>([&] { (void)module.kernel<void()>("store"); }, "none was given");
}
