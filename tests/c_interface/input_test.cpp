// SPDX-License-Identifier: Apache-2.0
// Inputs of the C interface.
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "c_interface_fixture.hpp"
#include "fixtures.hpp"

using fixtures::c_input;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::k_store_ptx;
using fixtures::result_of;
using fixtures::succeed;

TEST(CInput, HasTheBytesAndTheFactsOfAFile)
{
  auto const path = fixtures::path("library.fatbin").string();
  auto const input = fixtures::read_c_input(path);
  EXPECT_EQ(fatlink_input_name(input.get()), path);
  EXPECT_STREQ(fatlink_input_form(input.get()), "fatbin");
  EXPECT_EQ(fatlink_input_is_verified(input.get()), 0);
  EXPECT_EQ(std::strlen(fatlink_input_digest(input.get())), 64U);
  std::size_t count = 0;
  auto const* const bytes = fatlink_input_bytes(input.get(), &count);
  auto const file = fixtures::bytes("library.fatbin");
  ASSERT_EQ(count, file.size());
  EXPECT_EQ(std::memcmp(bytes, file.data(), count), 0);
}

TEST(CInput, CopiesBytes)
{
  std::string text(k_store_ptx);
  auto const input = fixtures::c_input_of(text);
  text.assign(text.size(), ' ');
  EXPECT_STREQ(fatlink_input_form(input.get()), "ptx");
  EXPECT_EQ(std::memcmp(fatlink_input_bytes(input.get(), nullptr), k_store_ptx.data(),
                        k_store_ptx.size()),
            0);
}

TEST(CInput, IsFoundByFile)
{
  c_input input;
  auto const path = fixtures::path("library.fatbin").string();
  succeed(fatlink_input_find(path.c_str(), result_of(input)));
  EXPECT_EQ(fatlink_input_name(input.get()), path);
  char* file = nullptr;
  succeed(fatlink_find_file(path.c_str(), &file));
  EXPECT_EQ(file, path);
  fatlink_text_free(file);
}

TEST(CInput, ThatIsNotThereIsAFileError)
{
  auto* input = reinterpret_cast<fatlink_input*>(1);
  fail(fatlink_input_read("/nowhere/x.ptx", &input), FATLINK_ERROR_FILE, "/nowhere/x.ptx");
  EXPECT_EQ(input, nullptr);
  fail(fatlink_input_find("no_such_name", &input), FATLINK_ERROR_FILE, "no_such_name");
  char* file = nullptr;
  fail(fatlink_find_file("no_such_name", &file), FATLINK_ERROR_FILE, "no_such_name");
}

TEST(CInput, ThatIsDamagedIsAFileError)
{
  fatlink_input* input = nullptr;
  fail(fatlink_input_from_bytes("?", 1, "x", &input), FATLINK_ERROR_FILE, "x");
  fail(fatlink_input_from_bytes(nullptr, 0, "x", &input), FATLINK_ERROR_FILE, "x");
}

TEST(CInput, RefusesNull)
{
  fatlink_input* input = nullptr;
  char* path = nullptr;
  fail_usage(fatlink_input_read(nullptr, &input), "path is NULL");
  fail_usage(fatlink_input_read("x", nullptr), "input is NULL");
  fail_usage(fatlink_input_find(nullptr, &input), "name_or_file is NULL");
  fail_usage(fatlink_input_from_bytes(nullptr, 1, "x", &input), "bytes is NULL");
  fail_usage(fatlink_input_from_bytes("x", 1, nullptr, &input), "name is NULL");
  fail_usage(fatlink_find_file(nullptr, &path), "name_or_file is NULL");
  fail_usage(fatlink_find_file("x", nullptr), "path is NULL");
}

TEST(CInput, OfNullIsEmpty)
{
  EXPECT_STREQ(fatlink_input_name(nullptr), "");
  EXPECT_STREQ(fatlink_input_form(nullptr), "");
  EXPECT_STREQ(fatlink_input_digest(nullptr), "");
  EXPECT_EQ(fatlink_input_is_verified(nullptr), 0);
  std::size_t count = 1;
  EXPECT_EQ(fatlink_input_bytes(nullptr, &count), nullptr);
  EXPECT_EQ(count, 0U);
  fatlink_input_free(nullptr);
  fatlink_text_free(nullptr);
}

TEST(CInput, IsFoundInThePythonPath)
{
  auto const folder = (fixtures::path("") / "").parent_path().string();
  succeed(fatlink_set_python_path(("mix 2.1=" + folder).c_str()));
  char* file = nullptr;
  succeed(fatlink_find_file("library", &file));
  EXPECT_EQ(file, folder + "/library.fatbin");
  fatlink_text_free(file);
  succeed(fatlink_set_python_path(""));
  fail(fatlink_find_file("library", &file), FATLINK_ERROR_FILE, "library");
  fail_usage(fatlink_set_python_path(nullptr), "folders");
}

TEST(CPack, ReturnsAndWritesAFatbin)
{
  auto const input = fixtures::read_c_input(fixtures::path("library.fatbin").string());
  auto const* const first = input.get();
  fixtures::folder const folder;
  auto const file = (folder.path() / "packed.fatbin").string();
  for (char const* const output : {static_cast<char const*>(nullptr), file.c_str()}) {
    c_input packed;
    char* warnings = reinterpret_cast<char*>(1);
    succeed(fatlink_pack(&first, 1, output, "halves 1.2", result_of(packed), &warnings));
    EXPECT_EQ(warnings, nullptr);
    EXPECT_EQ(fatlink_input_is_verified(packed.get()), 1);
    EXPECT_STREQ(fatlink_input_name(packed.get()), output == nullptr ? "packed.fatbin" : output);
  }
  EXPECT_EQ(fatlink_input_is_verified(fixtures::read_c_input(file).get()), 1);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "packed.json"));
}

TEST(CPack, RefusesArguments)
{
  auto const input = fixtures::read_c_input(fixtures::path("library.fatbin").string());
  std::array<fatlink_input const*, 2> const twice{input.get(), input.get()};
  c_input packed;
  auto const pack = [&](std::size_t count, char const* output, char const* package) {
    return fatlink_pack(twice.data(), count, output, package, result_of(packed), nullptr);
  };
  fail_usage(pack(0, nullptr, nullptr), "there is nothing to pack");
  fail_usage(pack(1, "x.json", nullptr), "cannot have the same name");
  fail_usage(pack(1, nullptr, "a b c"), "package: 'a b c' is not a name");
  fail(pack(2, nullptr, nullptr), FATLINK_ERROR_REFUSED, "passed twice");
  fail(pack(1, "/nowhere/x.fatbin", nullptr), FATLINK_ERROR_FILE, "/nowhere/x.fatbin");
  fail_usage(fatlink_pack(twice.data(), 1, nullptr, nullptr, nullptr, nullptr), "fatbin is NULL");
  EXPECT_EQ(packed, nullptr);
}
