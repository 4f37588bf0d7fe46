// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/compile_session.hpp"

#include <algorithm>
#include <utility>

#include "compiler/messages/compile_messages.hpp"
#include "compiler/session/compile_key.hpp"
#include "util/process/environment.hpp"
#include "util/text/printable.hpp"
#include "vendor_compiler/nvrtc.hpp"

namespace fatlink::detail {
namespace {

constexpr int k_most_rounds = 64;  ///< of headers that only the compiler finds

/// The key of the names of headers that a compile with `key` found late.
cache_key late_headers_key(cache_key key)
{
  return key.add("result", "headers");
}

}  // namespace

compile_session::compile_session(compiler_state& state, source const& code,
                                 compile_options const& options)
    : state_(state),
      helpers_(state, printable(code.name())),
      inputs_(code, options),
      compiler_(state, inputs_, helpers_)
{
}

compiled_source compile_session::run()
{
  stopwatch watch;
  inputs_.read_contract();
  if (may_use_shipped()) product_ = find_shipped();
  return make_result(watch);
}

compiled_source compile_session::run_into(std::filesystem::path const& layer)
{
  stopwatch watch;
  inputs_.read_contract();
  auto result = make_result(watch);
  if (inputs_.is_cuda()) write_layer_entry(layer, make_shipped_key(), *product_);
  return result;
}

/// Reads the headers and compiles, unless product_ is found already.
compiled_source compile_session::make_result(stopwatch& watch)
{
  if (!product_) {
    read_inputs();
    times_.read_ms = watch.lap();
    add_warnings(inputs_.warnings);
    product_ = find_or_make();
  }
  auto code = fatbin::from_bytes(product_->bytes, inputs_.subject.name);
  if (!product_->warnings.empty()) inputs_.name_header_files();
  add_warnings(compiler_.warnings());
  for (auto const& warning : product_->warnings)
    warnings_.push_back(named_warning(warning, inputs_.subject));
  times_.open_ms = helpers_.open_ms();
  times_.compile_ms = compiler_.compile_ms();
  times_.lookup_ms = std::max(watch.lap() - times_.open_ms - times_.compile_ms, 0.0);
  auto producer = code.ident() ? code.ident()->producer : inputs_.producer;
  return {.code = std::move(code),
          .warnings = std::move(warnings_),
          .cache = outcome_,
          .producer = std::move(producer),
          .headers = inputs_.header_files(),
          .times = times_};
}

void compile_session::read_inputs()
{
  inputs_.read(state_.locate(inputs_.code.language()), helpers_, state_.settings.cache.get());
}

/// Whether a compile that a package ships may be used, whatever NVRTC made it: not where the caller
/// or $FATLINK_NVRTC names the NVRTC to use.
bool compile_session::may_use_shipped() const
{
  auto const& cache = state_.settings.cache;
  return inputs_.is_cuda() && cache && !cache->settings().layers.empty() &&
         state_.settings.nvrtc.empty() && environment(nvrtc_library().variable).empty();
}

/// Of a compile that a package ships: names no compiler.
cache_key compile_session::make_shipped_key()
{
  std::string const any_compiler;
  return compile_key(inputs_.make_shipped_program(helpers_), inputs_.options,
                     {.compiler = any_compiler, .contract = inputs_.subject.contract});
}

/// Null: no layer has it.
std::shared_ptr<cached_link const> compile_session::find_shipped()
{
  auto const key = make_shipped_key();
  auto found = state_.settings.cache->find_shipped(key);
  if (found) outcome_ = cache_outcome::hit;
  add_warnings(state_.settings.cache->take_warnings());
  return found;
}

std::vector<std::filesystem::path> compile_session::find_headers()
{
  inputs_.read_contract();
  read_inputs();
  auto files = inputs_.header_files();
  auto const missing = inputs_.headers->missing_files();
  files.insert(files.end(), missing.begin(), missing.end());
  return files;
}

void compile_session::add_warnings(std::vector<std::string> const& warnings)
{
  warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
}

/// The fatbin, from the cache if it has it. No helper is held where this waits for another compile:
/// that one may wait for a helper.
std::shared_ptr<cached_link const> compile_session::find_or_make()
{
  auto const& cache = state_.settings.cache;
  if (!cache || !has_identities()) return std::make_shared<cached_link const>(compiler_.make());
  auto const key = add_known_headers(*cache);
  auto result = helpers_.find_or_make(key, [&] {
    auto link = compiler_.make();
    return link_cache::product{.link = std::move(link), .keep = compiler_.late_headers().empty()};
  });
  helpers_.release();
  outcome_ = result.outcome;
  if (!compiler_.late_headers().empty()) store_late(key, *result.link);
  for (auto& warning : cache->take_warnings()) warnings_.push_back(std::move(warning));
  return std::move(result.link);
}

/// Whether the compilers that the key states are known here; false: only the helper may find one.
bool compile_session::has_identities() const
{
  return !inputs_.library.identity.empty() &&
         (!inputs_.contract || !state_.locate(source_language::cuda).identity.empty());
}

/// Adds the headers that an earlier compile of the same texts found late, as long as they are
/// there. Returns the key of the compile.
cache_key compile_session::add_known_headers(link_cache& cache)
{
  auto key = make_key();
  for (int rounds = 0; inputs_.is_cuda() && rounds < k_most_rounds; ++rounds) {
    auto const names_key = late_headers_key(key);
    if (!cache.has(names_key)) break;
    auto const entry =
        helpers_.find_or_make(names_key, [] { return link_cache::product{.keep = false}; });
    bool is_changed = false;
    for (auto const& name : entry.link->warnings)
      is_changed = inputs_.headers->add(name) || is_changed;
    if (!is_changed) break;
    key = make_key();
  }
  return key;
}

/// Stores `link`, which is not the one of `key`, by the key with the headers that were found late,
/// and by `key` the names of those.
void compile_session::store_late(cache_key const& key, cached_link const& link)
{
  (void)helpers_.find_or_make(make_key(), [&] { return link_cache::product{.link = link}; });
  (void)helpers_.find_or_make(late_headers_key(key), [&] {
    return link_cache::product{.link = {.warnings = compiler_.late_headers()}};
  });
}

cache_key compile_session::make_key()
{
  compile_conditions conditions{.compiler = inputs_.library.identity,
                                .contract = inputs_.subject.contract,
                                .allow_unconfined = state_.settings.allow_unconfined};
  if (inputs_.contract) {
    conditions.hook_probe = &compiler_.probe();
    conditions.nvrtc = state_.locate(source_language::cuda).identity;
  }
  return compile_key(inputs_.make_program(), inputs_.options, conditions);
}

}  // namespace fatlink::detail
