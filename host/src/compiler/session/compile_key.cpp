// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/compile_key.hpp"

#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
namespace {

/// Increased whenever fatlink itself would compile the same source differently.
constexpr char const* k_compile_format = "4";

}  // namespace

std::string digest_of(std::string_view text)
{
  return to_hexadecimal(sha256(std::as_bytes(std::span(text))));
}

void add_program(cache_key& key, program const& subject,
                 std::map<std::string, std::string> const& headers)
{
  key.add("name", subject.name);
  key.add("source", digest_of(subject.source));
  for (auto const& library : subject.headers)
    key.add("library", library.name + ' ' + digest_of(library.text));
  for (auto const& [name, text] : headers) key.add("header", name + ' ' + digest_of(text));
  for (auto const& call : subject.compiles)
    for (auto const& option : call.options) key.add("option", option);
}

cache_key compile_key(program const& subject, std::map<std::string, std::string> const& headers,
                      compile_options const& options, compile_conditions const& conditions)
{
  cache_key key;
  key.add("compile", k_compile_format);
  add_program(key, subject, headers);
  for (auto const architecture : options.sass) key.add("sass", architecture.name());
  if (auto const* contract = conditions.contract) {
    key.add("contract", contract->title());
    key.add("package", contract->package);
    for (auto const& hook : contract->hooks) key.add("hook", hook);
  }
  if (!conditions.nvrtc.empty()) key.add("nvrtc", conditions.nvrtc);
  key.add("compiler", conditions.compiler);
  // Never served to a compiler that requires the sandbox.
  if (conditions.allow_unconfined) key.add("sandbox", "not required");
  return key;
}

}  // namespace fatlink::detail
