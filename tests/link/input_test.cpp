// SPDX-License-Identifier: Apache-2.0
// Modules of inputs of every form, with the real nvJitLink.
#include "fatlink/input.hpp"

#include <gtest/gtest.h>

#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"

using namespace fatlink;

namespace {

/// The cubin for sm_90 of the library and of the modules of `transform`.
byte_buffer linked(input const& transform, link_mode mode)
{
  std::vector inputs{fixtures::fatbin("library.fatbin")};
  inputs.insert(inputs.end(), transform.modules().begin(), transform.modules().end());
  return linker().link(inputs, {.target = "sm_90", .mode = mode, .emit = image_kind::cubin}).bytes;
}

class InputForms : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(InputForms, WithLtoirGiveTheCubinOfTheFatbin)
{
  auto const expected = linked(fixtures::fatbin("transform.fatbin"), link_mode::lto);
  for (auto const* name :
       {"transform.ltoir", "nvrtc.ltoir", "libnvvm.ltoir", "object.o", "transform.a"})
    EXPECT_EQ(linked(input::read(fixtures::path(std::string("forms/") + name)), link_mode::lto),
              expected)
        << name;
}

TEST_F(InputForms, WithPtxGiveTheCubinOfTheFatbin)
{
  auto const expected = linked(fixtures::fatbin("transform.fatbin"), link_mode::ptx);
  for (auto const* name : {"transform.ptx", "object.o", "transform.a"})
    EXPECT_EQ(linked(input::read(fixtures::path(std::string("forms/") + name)), link_mode::ptx),
              expected)
        << name;
}

TEST_F(InputForms, LinkEveryUnitOfAnObject)
{
  auto const units = input::read(fixtures::path("forms/two_units.o"));
  auto const expected = linked(fixtures::fatbin("transform.fatbin"), link_mode::lto);
  EXPECT_EQ(linker()
                .link(units.modules(),
                      {.target = "sm_90", .mode = link_mode::lto, .emit = image_kind::cubin})
                .bytes,
            expected);
}
