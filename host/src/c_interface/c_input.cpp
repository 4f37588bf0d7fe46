// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <memory>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"
#include "fatbin/fatbin_files.hpp"
#include "fatlink/catalogue.hpp"
#include "input/find_sidecar.hpp"
#include "preflight/pack_fatbins.hpp"
#include "preflight/symbols.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::c {
namespace {

/// Packs `inputs`, and writes the files if `settings` names one.
detail::packed_fatbin pack(std::vector<input> const& inputs, detail::pack_settings settings)
{
  std::filesystem::path const file = settings.name;
  if (!settings.package.empty()) detail::check_package(settings.package);
  if (file.empty()) settings.name = "packed.fatbin";
  if (!file.empty()) detail::check_fatbin_path(file);
  auto packed = detail::pack_fatbins(detail::modules_of(inputs), settings);
  if (file.empty()) return packed;
  std::vector<detail::sidecar_ptr> sidecars;
  for (auto const& input : inputs) sidecars.push_back(detail::sidecar_of(input));
  detail::write_fatbin_files(packed.contents, std::make_unique<output_file>(file), sidecars,
                             detail::sidecar_precedence::output, packed.warnings);
  return packed;
}

}  // namespace
}  // namespace fatlink::c

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

fatlink_error* fatlink_pack(fatlink_input const* const* inputs, size_t count, char const* output,
                            char const* package, fatlink_input** fatbin, char** warnings)
{
  return guarded([&] {
    auto& result = fatlink::c::output(fatbin, "fatbin");
    if (warnings != nullptr) *warnings = nullptr;
    auto packed = pack(read_inputs(inputs, count), {.name = output == nullptr ? "" : output,
                                                    .package = text_or_empty(package)});
    auto input = std::make_unique<fatlink_input>(packed.contents);
    if (warnings != nullptr && !packed.warnings.empty())
      *warnings = copy_text(lines_of(packed.warnings));
    result = input.release();
  });
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
