// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/compile_session.hpp"

#include <algorithm>
#include <utility>

#include "compiler/headers/compile_with_headers.hpp"
#include "compiler/messages/compile_messages.hpp"
#include "compiler/session/compile_key.hpp"
#include "util/process/environment.hpp"
#include "util/text/printable.hpp"
#include "vendor_compiler/nvrtc.hpp"

namespace fatlink::detail {
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
  inputs_.read_contract(helpers_);
  if (may_use_shipped()) product_ = find_shipped();
  return make_result(watch);
}

compiled_source compile_session::run_into(std::filesystem::path const& layer)
{
  stopwatch watch;
  inputs_.read_contract(helpers_);
  auto result = make_result(watch);
  if (inputs_.is_cuda()) write_shipped(layer);
  return result;
}

/// Compiles, unless product_ is found already.
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
          .headers = inputs_.read_headers(),
          .times = times_};
}

void compile_session::read_inputs()
{
  inputs_.read(state_.locate(inputs_.code.language()), state_.settings.cache.get());
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
cache_key compile_session::make_shipped_key() const
{
  std::string const any_compiler;
  return compile_key(inputs_.make_program(), inputs_.headers->memory(), inputs_.options,
                     {.compiler = any_compiler, .contract = inputs_.subject.contract});
}

/// Null: no layer has it. CUDA's own headers belong to the compiler, which is not part of the key.
std::shared_ptr<cached_link const> compile_session::find_shipped()
{
  auto& cache = *state_.settings.cache;
  auto key = make_shipped_key();
  if (auto const record = cache.find_shipped(record_key(key))) {
    auto const paths = decode_record(*record);
    inputs_.headers->add_to_record(paths);
    key = key_with_state(std::move(key), inputs_.headers->state_of(paths, true));
  }
  auto found = cache.find_shipped(key);
  if (found) outcome_ = cache_outcome::hit;
  add_warnings(cache.take_warnings());
  return found;
}

void compile_session::write_shipped(std::filesystem::path const& layer)
{
  auto const paths = shipped_part(inputs_.headers->record());
  auto key = make_shipped_key();
  if (!paths.empty()) {
    write_layer_entry(layer, record_key(key), encode_record(paths));
    key = key_with_state(std::move(key), inputs_.headers->state_of(paths, true));
  }
  write_layer_entry(layer, key, *product_);
}

header_lookups compile_session::lookups()
{
  if (!inputs_.headers) return {};
  return {.found = inputs_.read_headers(), .missing = inputs_.headers->missing_files()};
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
  auto result = find_or_compile(make_key(), *inputs_.headers, *cache, helpers_,
                                [&] { return compiler_.make(); });
  helpers_.release();
  outcome_ = result.outcome;
  for (auto& warning : cache->take_warnings()) warnings_.push_back(std::move(warning));
  return std::move(result.link);
}

/// Whether the compilers that the key states are known here; false: only the helper may find one.
bool compile_session::has_identities() const
{
  return !inputs_.library.identity.empty() &&
         (!inputs_.contract || !state_.locate(source_language::cuda).identity.empty());
}

cache_key compile_session::make_key()
{
  compile_conditions conditions{.compiler = inputs_.library.identity,
                                .contract = inputs_.subject.contract,
                                .allow_unconfined = state_.settings.allow_unconfined};
  if (inputs_.contract) conditions.nvrtc = state_.locate(source_language::cuda).identity;
  return compile_key(inputs_.make_program(), inputs_.headers->memory(), inputs_.options,
                     conditions);
}

}  // namespace fatlink::detail
