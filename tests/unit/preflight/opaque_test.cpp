// SPDX-License-Identifier: Apache-2.0
// Preflight of inputs whose linked entry no PTX describes, and of unknown architectures.
#include <gmock/gmock.h>

#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using fixtures::finding_ids;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

std::vector<finding> judge_inputs(std::vector<fatbin> const& inputs,
                                  link_mode mode = link_mode::lto)
{
  return preflight(inputs, {.target = "sm_90", .mode = mode});
}

finding const& finding_with(std::vector<finding> const& findings, std::string const& id)
{
  for (auto const& one : findings)
    if (to_string(one.id) == id) return one;
  ADD_FAILURE() << "no finding " << id;
  return findings.at(0);
}

/// `name` with its entries of `kind` for the architecture `number`.
fatbin with_architecture(std::string const& name, entry_kind kind, unsigned char number)
{
  auto bytes = fixtures::bytes(name);
  auto const file = fixtures::fatbin(name);
  for (auto const& entry : file.entries())
    if (entry.kind == kind) bytes[entry.offset + 0x1C] = std::byte{number};
  return fatbin::from_bytes(std::move(bytes), name);
}

}  // namespace

TEST(OpaqueInput, IsWarnedOfByPreflightThatComparedNoTypes)
{
  for (auto const* name : {"transform_ltoir.fatbin", "two_types_ltoir.fatbin"}) {
    auto const findings =
        judge_inputs({fixtures::fatbin("library.fatbin"), fixtures::fatbin(name)});
    auto const warning = finding_with(findings, "unreadable-types");
    EXPECT_EQ(warning.severity, severity::warning);
    EXPECT_THAT(warning.message, HasSubstr("only the link compares them"));
    EXPECT_THAT(warning.hint, HasSubstr("nvcc -dc -gencode 'arch=compute_"));
    EXPECT_THAT(finding_with(findings, "uncontracted").message,
                testing::AllOf(HasSubstr("not compared before the link"),
                               Not(HasSubstr("could be checked"))));
  }
}

TEST(OpaqueInput, OfRawLtoirIsAdvisedToBecomeAFatbin)
{
  auto const raw =
      input::from_bytes(fixtures::bytes("forms/transform.ltoir"), "t.ltoir").modules().front();
  auto const findings = judge_inputs({fixtures::fatbin("library.fatbin"), raw});
  EXPECT_EQ(finding_with(findings, "unreadable-types").hint,
            "raw LTO-IR cannot state them; compile its source to a fatbin, whose PTX does: nvcc "
            "-dlto -fatbin -arch=sm_75 FILE.cu -o FILE.fatbin, or fatlink compile");
}

TEST(OpaqueInput, IsNotSoInPtxModeWherePtxIsLinked)
{
  auto const findings = judge_inputs(
      {fixtures::verified("library.fatbin"), fixtures::verified("two_types_ltoir.fatbin")},
      link_mode::ptx);
  EXPECT_THAT(finding_ids(findings), ElementsAre("uncontracted"));
  EXPECT_THAT(findings[0].message,
              HasSubstr("only the number and sizes of its parameters are compared"));
}

TEST(OpaqueInput, IsRefusedWhereNoInputStatesTypes)
{
  auto const findings = judge_inputs(
      {fixtures::fatbin("library_ltoir.fatbin"), fixtures::fatbin("transform_ltoir.fatbin")});
  auto const error = finding_with(findings, "unchecked-types");
  EXPECT_EQ(error.severity, severity::error);
  EXPECT_THAT(error.files, ElementsAre("library_ltoir.fatbin", "transform_ltoir.fatbin"));
  EXPECT_EQ(error.hint,
            "compile transform_ltoir.fatbin with nvcc -dc -gencode "
            "'arch=compute_75,code=[compute_75,lto_75]', or with fatlink compile --arch 75");
}

TEST(OpaqueInput, HasTheInterfaceOfTheEntryThatIsLinked)
{
  auto const file = fixtures::fatbin("two_types_ltoir.fatbin");
  EXPECT_TRUE(interface_of(file, {"sm_90", link_mode::lto}).definitions.empty());
  EXPECT_EQ(interface_of(file, {"sm_90", link_mode::ptx}).definitions.size(), 1U);
  EXPECT_TRUE(is_opaque(file, {"sm_90", link_mode::lto}));
  EXPECT_FALSE(is_opaque(fixtures::fatbin("several.fatbin"), {"sm_103", link_mode::lto}));
}

TEST(OpaqueInput, IsOneWithTwoPtxEntriesOfOneArchitecture)
{
  auto bytes = fixtures::bytes("transform.fatbin");
  auto const ptx = read_ptx(fixtures::fatbin("lz4.fatbin").entries()[0]);
  auto const second = input::from_bytes(fixtures::to_bytes(ptx), "t.ptx").modules().front();
  bytes.insert(bytes.end(), second.bytes().begin(), second.bytes().end());
  EXPECT_TRUE(is_opaque(fatbin::from_bytes(bytes, "two"), {"sm_90", link_mode::lto}));
}

TEST(UnknownArchitecture, IsRefusedByName)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    auto const kind = mode == link_mode::ptx ? entry_kind::ptx : entry_kind::ltoir;
    for (auto const number : {74, 76, 83}) {
      auto const findings = judge_inputs(
          {fixtures::fatbin("library.fatbin"),
           with_architecture("transform.fatbin", kind, static_cast<unsigned char>(number))},
          mode);
      auto const error = finding_with(findings, "arch-unknown");
      EXPECT_EQ(error.severity, severity::error);
      EXPECT_THAT(error.message, HasSubstr("transform.fatbin holds"));
      EXPECT_THAT(error.message, HasSubstr("sm_" + std::to_string(number)));
    }
  }
}

TEST(UnknownArchitecture, IsPassedOverForAnEntryThatLinks)
{
  auto bytes = fixtures::bytes("transform.fatbin");
  auto const newer = with_architecture("transform.fatbin", entry_kind::ptx, 83);
  bytes.insert(bytes.end(), newer.bytes().begin(), newer.bytes().end());
  auto const both = fatbin::from_bytes(bytes, "both.fatbin");
  EXPECT_EQ(linked_entry(both, {"sm_90", link_mode::ptx})->target, target("sm_75"));
  auto const findings = judge_inputs({fixtures::fatbin("library.fatbin"), both}, link_mode::ptx);
  EXPECT_THAT(finding_with(findings, "arch-unknown").message,
              HasSubstr("its PTX for sm_75 is linked"));
}

TEST(KnownArchitecture, OfOlderToolkitsIsLinked)
{
  auto const older = with_architecture("transform.fatbin", entry_kind::ptx, 70);
  auto const verified = fatbin::from_bytes(detail::add_digests(older.bytes()), "older.fatbin");
  EXPECT_THAT(judge_inputs({fixtures::verified("library.fatbin"), verified}, link_mode::ptx),
              IsEmpty());
}
