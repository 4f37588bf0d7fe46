// SPDX-License-Identifier: Apache-2.0
// Raw LTO-IR of NVRTC, libNVVM, Numba and cuda.core (fixtures/make_maker_fixtures), linked with the
// real nvJitLink. Its types are compared by a link of their own, because nothing states them.
#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"

using namespace fatlink;
using testing::Contains;
using testing::HasSubstr;

namespace {

input form(std::string const& name)
{
  return input::read(fixtures::path("forms/" + name + ".ltoir"));
}

linked_image link_with_library(fatbin const& transform)
{
  std::vector const inputs{fixtures::fatbin("library.fatbin"), transform};
  return linker().link(inputs,
                       {.target = "sm_90", .mode = link_mode::lto, .emit = image_kind::cubin});
}

/// The image of the library with raw LTO-IR.
linked_image link_ltoir(std::string const& name)
{
  return link_with_library(form(name).modules().front());
}

/// Expects that the raw LTO-IR `name` is refused because its user_transform has another type.
void expect_mismatch(std::string const& name)
{
  expect_error<refused_error>(
      [&] { (void)link_ltoir(name); },
      name + ".ltoir has user_transform with another type [signature-mismatch]");
}

class Numba : public fixtures::needs_nvjitlink {};
class Makers : public fixtures::needs_nvjitlink, public testing::WithParamInterface<char const*> {};

}  // namespace

TEST_P(Makers, GiveTheCubinOfTheFatbinOfTheSameSource)
{
  auto const image = link_ltoir(GetParam());
  EXPECT_TRUE(image.inlined());
  EXPECT_EQ(image.bytes, link_with_library(fixtures::fatbin("transform.fatbin")).bytes);
}

TEST_P(Makers, AreRefusedWithAnotherType)
{
  for (auto const* suffix : {"_double", "_two"}) expect_mismatch(GetParam() + std::string(suffix));
}

TEST_P(Makers, WarnThatTheTypesCannotBeRead)
{
  EXPECT_THAT(link_ltoir(GetParam()).warnings, Contains(HasSubstr("[unreadable-types]")));
}

INSTANTIATE_TEST_SUITE_P(All, Makers, testing::Values("nvrtc", "libnvvm", "numba", "cuda_core"),
                         [](auto const& maker) { return std::string(maker.param); });

TEST_F(Numba, InlinesTheFunctionOfLibdeviceThatATransformCalls)
{
  EXPECT_TRUE(link_ltoir("numba_tanh").inlined());
}

TEST_F(Numba, IsRefusedWhereItInfersADoubleResult)
{
  expect_mismatch("numba_inferred");
}
