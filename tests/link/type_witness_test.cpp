// SPDX-License-Identifier: Apache-2.0
// Types of LTO-IR that no PTX describes, checked by links of their own.
#include "linker/witness_ptx.hpp"

#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"

using namespace fatlink;
using testing::Contains;
using testing::HasSubstr;

namespace {

link_options lto()
{
  return {.target = "sm_90", .mode = link_mode::lto, .emit = image_kind::cubin, .kernel = {}};
}

linked_image link(std::vector<std::string> const& names, isolation where = isolation::in_process)
{
  std::vector<fatbin> inputs;
  for (auto const& name : names) inputs.push_back(fixtures::fatbin(name));
  return linker(where).link(inputs, lto());
}

class TypeWitness : public fixtures::needs_nvjitlink {};

}  // namespace

TEST(WitnessPtx, DeclaresDefinesAndCallsAsStated)
{
  ptx_function const hook{"f", {{"b32", 0, 0}}, {{"b32", 0, 0}, {"b8", 4, 8}}};
  ptx_function const helper{"g", {}, {}};
  auto const text = detail::write_witness({{hook, "a", false}, {helper, "b", true}});
  EXPECT_THAT(text, HasSubstr(".extern .func (.param .b32 r0) f (.param .b32 p0, "
                              ".param .align 4 .b8 p1[8])\n;"));
  EXPECT_THAT(text, HasSubstr(".weak .func g ()\n{ ret; }"));
  auto const interface = read_ptx_interface(text);
  ASSERT_EQ(interface.hooks.size(), 1U);
  EXPECT_EQ(to_string(interface.hooks[0]), to_string(hook));
}

TEST_F(TypeWitness, RefusesATransformOfAnotherTypeThanTheLibraryDeclares)
{
  for (auto const where : {isolation::in_process, isolation::worker})
    expect_error<refused_error>(
        [&] {
          (void)link({"library.fatbin", "two_types_ltoir.fatbin"}, where);
        },
        "library.fatbin declares (b32) user_transform(b32), and the LTO-IR of "
        "two_types_ltoir.fatbin has user_transform with another type [signature-mismatch]");
}

TEST_F(TypeWitness, LinksAndInlinesATransformOfTheRightType)
{
  auto const image = link({"library.fatbin", "transform_ltoir.fatbin"});
  EXPECT_TRUE(image.inlined());
  EXPECT_EQ(image.bytes, link({"library.fatbin", "transform.fatbin"}).bytes);
  EXPECT_THAT(image.warnings, Contains(HasSubstr("[unreadable-types]")));
}

TEST_F(TypeWitness, LinksAndInlinesIntoALibraryOfTheRightType)
{
  auto const image = link({"library_ltoir.fatbin", "transform.fatbin"});
  EXPECT_TRUE(image.inlined());
  EXPECT_EQ(functions_in_cubin(image.bytes), std::vector<std::string>{"apply_transform"});
}

TEST_F(TypeWitness, RefusesAHookThatTheLtoirDoesNotDefine)
{
  expect_error<refused_error>(
      [] {
        (void)link({"library.fatbin", "library_ltoir.fatbin"});
      },
      "library.fatbin declares (b32) user_transform(b32), and no input shows a definition of it");
}
