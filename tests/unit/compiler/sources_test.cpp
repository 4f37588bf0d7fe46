// SPDX-License-Identifier: Apache-2.0
// Sources of a compile, and compilers whose identity is remembered.
#include <gmock/gmock.h>

#include "compiler/compiler_state.hpp"
#include "expect_error.hpp"
#include "fatlink/source.hpp"
#include "fixtures.hpp"
#include "toolkit/nvjitlink.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

void expect_refused_source(std::string const& text, error_code code, std::string const& message,
                           std::string const& name = "half.cu")
{
  try {
    (void)source::from_text(text, name);
    ADD_FAILURE() << "accepted";
  } catch (file_error const& failure) {
    EXPECT_EQ(failure.where(), stage::compiler);
    EXPECT_EQ(failure.details().input, name);
    EXPECT_TRUE(failure.details().code == code) << failure.details().code.text();
    EXPECT_THAT(failure.what(), testing::HasSubstr(message));
    EXPECT_NE(failure.details().hint, "");
  }
}

}  // namespace

TEST(Source, KeepsNameAndText)
{
  auto const code = source::from_text("int x;\n", "src/half.cu");
  EXPECT_EQ(code.name(), "src/half.cu");
  EXPECT_EQ(code.text(), "int x;\n");
}

TEST(Source, IsRecognizedByItsContentOrAnEndingOfLlvmIr)
{
  for (std::string const text : {"", "int x;", "extern \"C\" __device__ float f(float);", "// ä\n"})
    EXPECT_EQ(source::from_text(text, "x.cu").language(), source_language::cuda) << text;
  for (std::string const text : {"target triple = \"nvptx64-nvidia-cuda\"\n", "; ModuleID = 'x'\n",
                                 "BC\xC0\xDE\x35\x14", "\xDE\xC0\x17\x0B\x01"})
    EXPECT_EQ(source::from_text(text, "x.cu").language(), source_language::nvvm_ir) << text;
}

TEST(Source, IsBitcodeIfItBeginsSoWhateverItsName)
{
  for (std::string const text : {"BC\xC0\xDE\x35\x14", "\xDE\xC0\x17\x0B\x01"})
    EXPECT_TRUE(source::from_text(text, "x.ll").is_bitcode());
  EXPECT_FALSE(source::from_text("; ModuleID = 'x'\n", "x.ll").is_bitcode());
  EXPECT_FALSE(source::from_text("BC", "x.cu").is_bitcode());
}

TEST(Source, LanguagesHaveNames)
{
  EXPECT_STREQ(to_string(source_language::cuda), "cuda");
  EXPECT_STREQ(to_string(source_language::nvvm_ir), "nvvm-ir");
}

TEST(Source, IsLlvmIrIfItsNameEndsSo)
{
  for (std::string const text : {"", "define float @f(float %x) {", "; a comment\n"})
    EXPECT_EQ(source::from_text(text, "a/x.ll").language(), source_language::nvvm_ir) << text;
}

TEST(Source, WithANulOrOtherThanUtf8IsRefusedWithItsLine)
{
  using namespace std::string_literals;
  expect_refused_source("int x;\nint\0y;\n"s, error_code::invalid_source,
                        "half.cu: line 2 has a NUL byte");
  expect_refused_source("int x;\n\n// \xE4\n", error_code::invalid_source,
                        "half.cu: line 3 has bytes that are not UTF-8");
}

TEST(Source, NamedAsBitcodeIsRefusedIfItIsNone)
{
  for (std::string const text : {"", "define float @f(float %x) {", "BC\xC0"})
    expect_refused_source(text, error_code::invalid_source, "half.bc: is not LLVM bitcode",
                          "half.bc");
}

TEST(Source, AboveTheLimitIsRefused)
{
  expect_refused_source(std::string(k_largest_source + 1, ' '), error_code::above_limit,
                        "half.cu: has 16777217 bytes; the limit is 16 MiB for CUDA C++");
}

TEST(Source, IsReadFromARegularFileOnly)
{
  fixtures::folder const folder;
  EXPECT_EQ(source::read(folder.write("a.cu", "int x;")).text(), "int x;");
  EXPECT_THROW((void)source::read(folder.path()), file_error);
  EXPECT_THROW((void)source::read(folder.path() / "none.cu"), file_error);
}

TEST(Source, NamesAreThoseOfSourceFiles)
{
  for (auto const* name : {"a.cu", "x/b.ll", "c.bc"}) EXPECT_TRUE(is_source_name(name)) << name;
  for (auto const* name : {"a", "a.ptx", "a.fatbin", "cu", ".cu"})
    EXPECT_FALSE(is_source_name(name)) << name;
}

TEST(Source, OfLlvmIrMayBeLarger)
{
  EXPECT_NO_THROW((void)source::from_text(std::string(k_largest_source + 1, ' '), "half.ll"));
  expect_refused_source(std::string(k_largest_ir + 1, ' '), error_code::above_limit,
                        "half.ll: has 268435457 bytes; the limit is 256 MiB for LLVM IR",
                        "half.ll");
}

namespace {

class RememberedIdentity : public testing::Test {
 protected:
  fixtures::folder folder_;
  std::shared_ptr<link_cache> cache_ =
      std::make_shared<link_cache>(cache_settings{.folder = folder_.path() / "cache"});

  std::optional<std::string> read(std::string const& path)
  {
    return remembering_reader(cache_)(path, nvjitlink_library());
  }
  std::uint64_t stored() { return cache_->statistics().stored; }
};

}  // namespace

TEST_F(RememberedIdentity, IsThatOfTheFile)
{
  auto const path = places::hostile_nvjitlink();
  auto const identity = nvjitlink_identity(path);
  ASSERT_TRUE(identity);
  EXPECT_EQ(remembering_reader(nullptr)(path, nvjitlink_library()), identity);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(path), identity);
  EXPECT_EQ(stored(), 1U);
}

TEST_F(RememberedIdentity, IsReadAgainForAFileThatChangedJustNow)
{
  auto const copy = folder_.path() / "copy.so";
  std::filesystem::copy_file(places::hostile_nvjitlink(), copy);
  EXPECT_EQ(read(copy), nvjitlink_identity(copy));
  EXPECT_EQ(stored(), 0U);
  (void)folder_.write("copy.so", "text");
  EXPECT_FALSE(read(copy));
}

TEST_F(RememberedIdentity, IsNoneForAnythingElse)
{
  EXPECT_FALSE(read("/nowhere/libnvJitLink.so.13"));
  EXPECT_FALSE(read("/usr"));
  EXPECT_FALSE(read("/etc/passwd"));
  EXPECT_EQ(stored(), 0U);
}
