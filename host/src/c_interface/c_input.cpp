// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"
#include "fatlink/catalogue.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink::c;

fatlink_error* fatlink_input_find(char const* name_or_file, fatlink_input** input)
{
  return guarded([&] {
    auto& result = output(input, "input");
    result = new fatlink_input(fatlink::input::find(required_text(name_or_file, "name_or_file")));
  });
}

fatlink_error* fatlink_input_read(char const* path, fatlink_input** input)
{
  return guarded([&] {
    auto& result = output(input, "input");
    result = new fatlink_input(fatlink::input::read(required_text(path, "path")));
  });
}

fatlink_error* fatlink_input_from_bytes(void const* bytes, size_t count, char const* name,
                                        fatlink_input** input)
{
  return guarded([&] {
    auto& result = output(input, "input");
    auto const given = list(static_cast<std::byte const*>(bytes), count, "bytes");
    result = new fatlink_input(
        fatlink::input::from_bytes({given.begin(), given.end()}, required_text(name, "name")));
  });
}

char const* fatlink_input_name(fatlink_input const* input)
{
  return input == nullptr ? "" : input->contents.name().c_str();
}

char const* fatlink_input_form(fatlink_input const* input)
{
  return input == nullptr ? "" : to_string(input->contents.form());
}

void const* fatlink_input_bytes(fatlink_input const* input, size_t* count)
{
  auto const bytes = input == nullptr ? fatlink::bytes_view() : input->contents.bytes();
  if (count != nullptr) *count = bytes.size();
  return bytes.data();
}

char const* fatlink_input_digest(fatlink_input const* input)
{
  if (input == nullptr) return "";
  return value_or("", [&] {
    std::lock_guard const lock(input->hashing);
    if (input->digest.empty())
      input->digest = fatlink::detail::to_hexadecimal(input->contents.digest());
    return input->digest.c_str();
  });
}

int32_t fatlink_input_is_verified(fatlink_input const* input)
{
  return input != nullptr && input->contents.is_verified() ? 1 : 0;
}

void fatlink_input_free(fatlink_input* input)
{
  delete input;
}

fatlink_error* fatlink_find_file(char const* name_or_file, char** path)
{
  return guarded([&] {
    auto& result = output(path, "path");
    auto const name = required_text(name_or_file, "name_or_file");
    result = copy_text(fatlink::is_input_name(name)
                           ? find_fatbin(name, fatlink::default_search_path()).string()
                           : name);
  });
}

fatlink_error* fatlink_set_python_path(char const* folders)
{
  return guarded([&] { fatlink::set_python_path(required_text(folders, "folders")); });
}

void fatlink_text_free(char* text)
{
  delete[] text;
}
