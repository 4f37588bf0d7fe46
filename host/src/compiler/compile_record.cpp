// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_record.hpp"

#include <filesystem>

#include "cache/record.hpp"
#include "compiler/compile_with_headers.hpp"
#include "fatlink/error.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

std::string absolute_path(fs::path const& path)
{
  return path.empty() ? "" : fs::absolute(path).lexically_normal().string();
}

/// The file that has the source; empty if there is none.
std::string file_of(source const& code)
try {
  std::error_code failure;
  if (!fs::is_regular_file(code.name(), failure)) return {};
  return source::read(code.name()).text() == code.text() ? absolute_path(code.name()) : "";
} catch (error const&) {
  return {};
}

std::vector<std::string> names_of(std::vector<target> const& targets)
{
  std::vector<std::string> names;
  for (auto const& architecture : targets) names.push_back(architecture.name());
  return names;
}

nlohmann::json options_to_json(compile_options const& options)
{
  auto folders = nlohmann::json::array();
  for (auto const& folder : options.include_folders) folders.push_back(absolute_path(folder));
  auto const& flags = options.float_flags;
  return {{"contract", options.contract},
          {"header", absolute_path(options.header)},
          {"include_folders", std::move(folders)},
          {"headers", options.headers},
          {"definitions", options.definitions},
          {"standard", options.standard},
          {"architectures", names_of(options.architectures)},
          {"sass", names_of(options.sass)},
          {"ftz", flags.ftz},
          {"prec_div", flags.prec_div},
          {"prec_sqrt", flags.prec_sqrt},
          {"fma", flags.fmad},
          {"line_info", options.line_info}};
}

std::vector<target> targets_of(nlohmann::json const& names)
{
  std::vector<target> targets;
  for (auto const& name : names) targets.emplace_back(name.get<std::string>());
  return targets;
}

compile_options options_of(nlohmann::json const& json)
{
  compile_options options;
  options.contract = json.at("contract");
  options.header = json.at("header").get<std::string>();
  for (auto const& folder : json.at("include_folders"))
    options.include_folders.emplace_back(folder.get<std::string>());
  json.at("headers").get_to(options.headers);
  json.at("definitions").get_to(options.definitions);
  json.at("standard").get_to(options.standard);
  options.architectures = targets_of(json.at("architectures"));
  options.sass = targets_of(json.at("sass"));
  options.float_flags = {.ftz = json.at("ftz"),
                         .prec_div = json.at("prec_div"),
                         .prec_sqrt = json.at("prec_sqrt"),
                         .fmad = json.at("fma")};
  json.at("line_info").get_to(options.line_info);
  return options;
}

std::string text_of(nlohmann::json const& entry)
{
  if (entry.contains("file")) return source::read(entry.at("file").get<std::string>()).text();
  if (entry.contains("text")) return entry.at("text");
  auto const bytes = cache::from_digits(entry.at("bytes"));
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

}  // namespace

nlohmann::json record_compile(source const& code, compile_options const& options,
                              fatbin const& result)
{
  auto const made = to_hexadecimal(result.digest());
  cache::note_compiled(made);
  nlohmann::json entry{{"job", "compile"},
                       {"name", code.name()},
                       {"language", to_string(code.language())},
                       {"sha256", digest_of(code.text())},
                       {"folder", absolute_path(code.folder())},
                       {"options", options_to_json(options)},
                       {"result", made}};
  if (auto file = file_of(code); !file.empty())
    entry["file"] = std::move(file);
  else if (code.is_bitcode())
    entry["bytes"] = cache::to_digits(std::as_bytes(std::span(code.text())));
  else
    entry["text"] = code.text();
  return entry;
}

recorded_compile read_compile_record(nlohmann::json const& entry)
try {
  auto text = text_of(entry);
  if (digest_of(text) != entry.at("sha256").get<std::string>())
    throw file_error(stage::compiler,
                     {.message = detail::format("{}: the source has changed since it was recorded",
                                                entry.value("file", "")),
                      .input = entry.value("file", ""),
                      .code = error_code::digest_mismatch,
                      .hint = "record it again: fatlink cache record -- COMMAND"});
  return {.code = source::from_text(std::move(text), entry.at("name"),
                                    entry.at("folder").get<std::string>()),
          .file = entry.value("file", ""),
          .options = options_of(entry.at("options")),
          .result = entry.at("result")};
} catch (nlohmann::json::exception const& malformed) {
  cache::refuse_record(malformed.what());
}

}  // namespace fatlink::detail
