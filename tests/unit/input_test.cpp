// SPDX-License-Identifier: Apache-2.0
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"

#include <gmock/gmock.h>

#include "ar_archive.hpp"
#include "expect_error.hpp"
#include "fatlink/ptx_interface.hpp"
#include "form_inputs.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::expect_bad;
using fixtures::form;
using fixtures::text_of;
using fixtures::to_bytes;
using fixtures::to_text;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// "NAME: KIND TARGET VERSION" of each entry of each module.
std::vector<std::string> entries_of(input const& file)
{
  std::vector<std::string> list;
  for (auto const& module : file.modules())
    for (auto const& entry : module.entries())
      list.push_back(module.name() + ": " + to_string(entry.kind) + " " + entry.target.name() +
                     " " + std::to_string(entry.version_major) + "." +
                     std::to_string(entry.version_minor));
  return list;
}

}  // namespace

TEST(Input, HasANameForEachForm)
{
  EXPECT_STREQ(to_string(input_form::fatbin), "fatbin");
  EXPECT_STREQ(to_string(input_form::archive), "archive");
}

TEST(Input, OfAFatbinIsItself)
{
  auto const bytes = fixtures::bytes("transform.fatbin");
  auto const file = input::from_bytes(bytes, "transform.fatbin");
  EXPECT_EQ(file.form(), input_form::fatbin);
  EXPECT_TRUE(std::ranges::equal(file.bytes(), bytes));
  EXPECT_EQ(file.digest(), detail::sha256(bytes));
  EXPECT_THAT(entries_of(file),
              ElementsAre("transform.fatbin: ptx sm_75 9.0", "transform.fatbin: ltoir sm_75 1.65"));
}

TEST(Input, IsMadeOfAFatbinWithoutACast)
{
  auto const good = fixtures::verified("transform.fatbin");
  std::vector<input> const inputs{good};
  EXPECT_EQ(inputs[0].name(), "transform.fatbin");
  EXPECT_EQ(inputs[0].form(), input_form::fatbin);
  EXPECT_EQ(inputs[0].bytes().data(), good.bytes().data());
  EXPECT_TRUE(inputs[0].is_verified());
}

TEST(Input, OfAMovedFromFatbinOrInputHasNoValue)
{
  auto file = fixtures::fatbin("transform.fatbin");
  input moved{std::move(file)};
  EXPECT_FALSE(input(file).has_value());  // NOLINT(bugprone-use-after-move)
  auto const target = std::move(moved);
  EXPECT_FALSE(moved.has_value());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(target.has_value());
}

TEST(Input, OfBarePtxIsOneModuleWithItsText)
{
  auto const file = form("nvrtc.ptx");
  EXPECT_EQ(file.form(), input_form::ptx);
  ASSERT_THAT(entries_of(file), ElementsAre("nvrtc.ptx: ptx sm_75 9.0"));
  auto const& module = file.modules()[0];
  EXPECT_EQ(read_ptx(module.entries()[0]) + '\0', text_of("nvrtc.ptx"));
  EXPECT_EQ(module.interface(module.entries()[0]).definitions.at(0).name, "user_transform");
  EXPECT_EQ(file.digest(), detail::sha256(fixtures::bytes("forms/nvrtc.ptx")));
}

TEST(Input, OfRawLtoirIsOneModuleWithoutFloatFlags)
{
  for (auto const* name : {"transform.ltoir", "nvrtc.ltoir", "libnvvm.ltoir"}) {
    auto const file = form(name);
    EXPECT_EQ(file.form(), input_form::ltoir);
    EXPECT_THAT(entries_of(file), ElementsAre(std::string(name) + ": ltoir sm_75 1.65"));
    EXPECT_EQ(file.modules()[0].entries()[0].options, "");
    EXPECT_TRUE(to_text(file.modules()[0].entries()[0].payload).starts_with(text_of(name)));
  }
  EXPECT_THAT(entries_of(form("specific.ltoir")), ElementsAre("specific.ltoir: ltoir sm_90a 1.65"));
}

TEST(Input, OfACubinIsOneModule)
{
  EXPECT_EQ(form("relocatable.cubin").form(), input_form::cubin);
  EXPECT_THAT(entries_of(form("relocatable.cubin")),
              ElementsAre(HasSubstr("relocatable.cubin: elf sm_90")));
  EXPECT_THAT(entries_of(form("whole_program.cubin")),
              ElementsAre(HasSubstr("whole_program.cubin: elf sm_90")));
}

TEST(Input, OfAnObjectHasAModuleForEachUnit)
{
  EXPECT_EQ(form("object.o").form(), input_form::object);
  EXPECT_THAT(entries_of(form("object.o")),
              ElementsAre("object.o: ptx sm_75 9.0", "object.o: ltoir sm_75 1.65"));
  EXPECT_THAT(entries_of(form("two_units.o")),
              ElementsAre("two_units.o[1]: ptx sm_75 9.0", "two_units.o[1]: ltoir sm_75 1.65",
                          "two_units.o[2]: ptx sm_75 9.0", "two_units.o[2]: ltoir sm_75 1.65"));
}

TEST(Input, OfAnArchiveHasTheModulesOfItsMembers)
{
  EXPECT_EQ(form("transform.a").form(), input_form::archive);
  EXPECT_THAT(entries_of(form("transform.a")),
              ElementsAre("transform.a(object.o): ptx sm_75 9.0",
                          "transform.a(object.o): ltoir sm_75 1.65"));
}

TEST(Input, OfAnArchiveMayHaveMembersOfEveryOtherForm)
{
  ar_archive archive;
  archive.member("a.txt/", "hello").member("empty.o/", "").member("cut/", "\x50\xED");
  archive.member("w.o/", text_of("whole_program.o")).member("t.ptx/", text_of("transform.ptx"));
  archive.member("t.ltoir/", text_of("transform.ltoir")).member("t.cu/", "__global__ void k();");
  archive.member("t.cubin/", text_of("relocatable.cubin")).member("two.o/", text_of("two_units.o"));
  archive.member("t.fatbin/", to_text(fixtures::bytes("library_ltoir.fatbin")));
  auto const file = input::from_bytes(archive.bytes(), "l.a");
  std::vector<std::string> names;
  for (auto const& module : file.modules()) names.push_back(module.name());
  EXPECT_THAT(names, ElementsAre("l.a(t.ptx)", "l.a(t.ltoir)", "l.a(t.cubin)", "l.a(two.o)[1]",
                                 "l.a(two.o)[2]", "l.a(t.fatbin)"));
}

TEST(Input, RefusesAnArchiveWithADamagedMemberAndNamesIt)
{
  auto const archive = [](std::string const& content) {
    return ar_archive().member("good.o/", text_of("object.o")).member("b.o/", content).bytes();
  };
  expect_bad(archive(text_of("object.o").substr(0, 3000)), error_code::corrupt_object,
             "f(b.o): truncated");
  expect_bad(archive(text_of("relocatable.cubin").substr(0, 1000)), error_code::corrupt_cubin,
             "f(b.o): damaged cubin: truncated");
  expect_bad(archive(text_of("transform.ltoir").substr(0, 21)), error_code::corrupt_ltoir,
             "f(b.o): truncated");
  expect_bad(archive(".version 9.0\n"), error_code::corrupt_ptx, "f(b.o): its PTX has its end");
  try {
    (void)input::from_bytes(archive("\x50\xED\x55\xBA"), "f");
    ADD_FAILURE() << "no error";
  } catch (format_error const& failed) {
    EXPECT_EQ(failed.details().code, error_code::corrupt_fatbin);
    EXPECT_THAT(failed.what(), HasSubstr("f(b.o): truncated"));
  }
}

TEST(Input, RefusesMembersThatAreNamedAsCodeAndAreOfNoForm)
{
  auto object = text_of("object.o");
  object[0] ^= 1;
  for (auto const* name : {"b.o", "b.cubin", "b.fatbin", "b.ptx", "b.ltoir"}) {
    auto const archive =
        ar_archive().member("a.o/", text_of("object.o")).member(name + std::string("/"), object);
    expect_bad(archive.bytes(), error_code::unknown_form,
               "f(" + std::string(name) + "): is unknown data that begins with 7e 45 4c 46");
  }
}

TEST(Input, LeavesOutOtherMembersOfAnArchive)
{
  auto const file = input::from_bytes(ar_archive()
                                          .member("a.o/", text_of("object.o"))
                                          .member("empty.o/", "")
                                          .member("host.o/", text_of("host.o"))
                                          .member("bitcode.o/", "BC\xC0\xDE-and-more")
                                          .member("read.me/", "\x7E text of no form")
                                          .bytes(),
                                      "l.a");
  ASSERT_EQ(file.modules().size(), 1U);
  EXPECT_EQ(file.modules()[0].name(), "l.a(a.o)");
}

TEST(Input, RefusesAnArchiveInsideAnArchive)
{
  expect_bad(ar_archive().member("inner.a/", text_of("transform.a")).bytes(),
             error_code::unknown_form, "f(inner.a): is an archive inside an archive");
}

TEST(Input, OfConcatenatedFatbinsHasAModuleForEach)
{
  auto both = fixtures::bytes("library.fatbin");
  auto const second = fixtures::bytes("transform.fatbin");
  both.insert(both.end(), second.begin(), second.end());
  auto const file = input::from_bytes(both, "both.fatbin");
  EXPECT_EQ(file.form(), input_form::fatbin);
  ASSERT_EQ(file.modules().size(), 2U);
  EXPECT_EQ(file.modules()[0].name(), "both.fatbin[1]");
  EXPECT_EQ(file.modules()[1].name(), "both.fatbin[2]");
  EXPECT_EQ(file.bytes().size(), both.size());
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    for (auto const& found : preflight(std::vector{file}, {.target = "sm_90", .mode = mode}))
      EXPECT_NE(found.severity, severity::error) << found.message;
}

TEST(Input, OfConcatenatedFatbinsIsNotLinkedAsOneFatbin)
{
  auto both = fixtures::bytes("library.fatbin");
  auto const second = fixtures::bytes("transform.fatbin");
  both.insert(both.end(), second.begin(), second.end());
  std::vector const files{fatbin::from_bytes(both, "both.fatbin")};
  auto const findings = preflight(files, {.target = "sm_90", .mode = link_mode::ptx});
  ASSERT_THAT(fixtures::finding_ids(findings), testing::Contains("duplicate-entry"));
  EXPECT_EQ(findings[0].message,
            "both.fatbin holds 2 entries of PTX for sm_75, of which a link takes one");
  EXPECT_EQ(findings[0].hint,
            "read concatenated fatbins as fatlink::input, or pass each as an input of its own");
}
