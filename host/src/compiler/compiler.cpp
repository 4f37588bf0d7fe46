// SPDX-License-Identifier: Apache-2.0
// One compile: from a source and its options to a fatbin, through the cache.
#include "fatlink/compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/kept_sources.hpp"
#include "cache/offline.hpp"
#include "cache/record.hpp"
#include "compiler/compile_inputs.hpp"
#include "compiler/compile_messages.hpp"
#include "compiler/compile_record.hpp"
#include "compiler/compile_with_headers.hpp"
#include "compiler/compiler_helpers.hpp"
#include "compiler/header_files.hpp"
#include "compiler/hook_types.hpp"
#include "compiler/llvm_ir.hpp"
#include "compiler/make_fatbin.hpp"
#include "fatlink/cache.hpp"
#include "toolkit/nvrtc.hpp"
#include "util/process/environment.hpp"
#include "util/process/stopwatch.hpp"
#include "util/process/tool_range.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Compiles the inputs of one compile to a fatbin, without the cache. Threads: one at a time.
class source_compiler {
 public:
  /// The arguments must outlive it.
  source_compiler(compiler_state& state, compile_inputs& inputs, compiler_helpers& helpers)
      : state_(state), inputs_(inputs), helpers_(helpers)
  {
  }

  /// Compiles; the inputs then have a record of the headers that were looked up.
  /// @throws compile_error, unavailable_error as compiler::compile.
  cached_link make();
  /// Wall time in the compiler, milliseconds.
  [[nodiscard]] double compile_ms() const noexcept { return compile_ms_; }
  /// What the user should know though the cache keeps the result.
  [[nodiscard]] std::vector<std::string> const& warnings() const noexcept { return warnings_; }

 private:
  void find_types();
  stated_types types_of_contract();
  std::vector<compile_product> compile_all();
  std::vector<compile_product> compile(program const& subject);
  void check_confinement(helper_tool tool);
  [[noreturn]] void fail_product(compile_product const& product, std::size_t number);
  ir_agreement compare_ir_types(byte_buffer const& ptx);

  compiler_state& state_;
  compile_inputs& inputs_;
  compiler_helpers& helpers_;
  hook_types types_;  ///< of the contract
  declaration_state declarations_ = declaration_state::same;
  std::vector<std::string> warnings_;
  double compile_ms_ = 0;
};

/// The types of the hooks come first, before a helper that the source may take over.
cached_link source_compiler::make()
{
  find_types();
  auto const products = compile_all();
  if (!products.back().code.empty()) fail_product(products.back(), products.size());
  if (declarations_ == declaration_state::unknown) refuse_declarations(inputs_.subject);
  auto const agreement = compare_ir_types(products.front().ptx);
  return make_fatbin(products, inputs_, types_, agreement);
}

/// Once for each compile: helpers that hold the source are not asked.
void source_compiler::find_types()
{
  if (!inputs_.contract) return;
  auto stated = types_of_contract();
  if (inputs_.is_cuda())
    declarations_ = compare_declarations(*inputs_.contract, stated, inputs_.options, state_,
                                         helpers_, stated.record);
  inputs_.headers->add_to_record(stated.record);
  types_ = std::move(stated.types);
  if (declarations_ == declaration_state::different) refuse_declarations(inputs_.subject);
}

std::vector<compile_product> source_compiler::compile_all()
{
  if (!inputs_.is_cuda()) return compile(inputs_.make_program());
  header_compile const work{
      .make_program = [&](bool is_minimal) { return inputs_.make_program(is_minimal); },
      .code = inputs_.code.text(),
      .compile = [&](program const& subject) { return compile(subject); }};
  auto& headers_error = inputs_.subject.headers_error;
  auto products =
      compile_with_headers(work, *inputs_.headers, *inputs_.places, helpers_, headers_error);
  if (!headers_error.empty())
    warnings_.push_back(
        detail::format("{} cannot unpack its CUDA headers: {}", inputs_.producer, headers_error));
  return products;
}

/// `number`: of the compile that failed, from 1.
void source_compiler::fail_product(compile_product const& product, std::size_t number)
{
  inputs_.name_header_files();
  auto const& subject = inputs_.subject;
  if (is_out_of_memory(product)) refuse_memory(subject.name, state_.settings);
  if (!inputs_.is_cuda())
    refuse_ir_product(product, subject,
                      {.target = inputs_.options.architectures.at((number - 1) / 2),
                       .source = inputs_.code.text(),
                       .producer = inputs_.producer});
  auto const header = missing_header_of(product.log);
  refuse_product(product, subject,
                 header.empty() ? std::string() : inputs_.headers->refusal_of(header),
                 inputs_.producer);
}

void source_compiler::check_confinement(helper_tool tool)
{
  auto const& layers = helpers_.hello(tool).layers;
  auto const layer = std::ranges::find_if(
      layers, [](std::string const& state) { return state.starts_with("seccomp: off"); });
  if (layer == layers.end()) return;
  auto warning = detail::format("{}: {} runs without its sandbox, which this compiler permits: {}",
                                inputs_.subject.name, inputs_.producer, *layer);
  if (std::ranges::count(warnings_, warning) == 0) warnings_.push_back(std::move(warning));
}

std::vector<compile_product> source_compiler::compile(program const& subject)
{
  auto const tool = inputs_.is_cuda() ? helper_tool::nvrtc : helper_tool::libnvvm;
  check_confinement(tool);
  tool_range const range(inputs_.is_cuda() ? "NVRTC" : "libNVVM");
  stopwatch watch;
  auto reply = helpers_.compile(
      tool, subject, [&](std::string const& path) { return inputs_.headers->answer(path); });
  compile_ms_ += watch.lap();
  return std::move(reply.products);
}

ir_agreement source_compiler::compare_ir_types(byte_buffer const& ptx)
{
  if (!inputs_.contract || inputs_.is_cuda()) return ir_agreement::same;
  auto const text_of = [](byte_buffer const& bytes) {
    return std::string_view(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  };
  auto const module = read_ptx_interface(text_of(ptx), inputs_.subject.name);
  auto const subject = inputs_.make_program();
  ir_subject const code{subject, module, inputs_.options.architectures.front()};
  auto const type_probe = ir_type_probe(code, types_);
  if (!type_probe) return ir_agreement::unknown;
  if (type_probe->headers.empty()) return ir_agreement::same;
  auto const product = std::move(compile(*type_probe).back());
  if (!product.code.empty()) return ir_agreement::unknown;
  return read_ir_agreement(text_of(product.ptx), text_of(ptx), code, types_);
}

stated_types source_compiler::types_of_contract()
try {
  return find_hook_types(*inputs_.contract, state_, helpers_);
} catch (unavailable_error const& missing) {
  if (inputs_.is_cuda()) throw;
  auto details = missing.details();
  details.message = detail::format("{}: NVRTC reads the contract {}: {}", inputs_.subject.name,
                                   inputs_.contract->title(), details.message);
  throw unavailable_error(stage::compiler, std::move(details));
}

std::string describe_conditions(compile_inputs const& inputs)
{
  std::string text;
  auto const add = [&](std::vector<target> const& targets, char const* before) {
    for (auto const& architecture : targets)
      text += (&architecture == &targets.front() ? before : ", ") + architecture.name();
  };
  add(inputs.options.architectures, " for ");
  add(inputs.options.sass, " with SASS for ");
  if (inputs.contract) text += " with the contract " + inputs.contract->title();
  return text;
}

/// In offline mode: what is missing, and how to add it to a layer. `cache`: may be null.
/// @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_compile_offline(std::shared_ptr<link_cache> const& cache,
                                         compile_inputs const& inputs)
{
  auto const& name = inputs.subject.name;
  auto const conditions = describe_conditions(inputs);
  if (!inputs.is_cuda())
    cache::refuse_offline(
        stage::compiler,
        detail::format("no cache layer can have compiled LLVM IR: {}{}", name, conditions), name,
        "compile it before, on a machine with libNVVM: fatlink compile; and pass the fatbin");
  auto hint = cache::describe_layer();
  if (!cache) hint = "<set compiler_settings::cache>; " + hint;
  cache::refuse_offline(
      stage::compiler,
      detail::format("{} the compiled source {}{}", cache::describe_miss(cache), name, conditions),
      name, std::move(hint));
}

/// "compile operator.cu".
std::string range_name(compile_inputs const& inputs)
{
  return "compile " + std::filesystem::path(inputs.subject.name).filename().string();
}

/// One compile, through the cache. Threads: one at a time.
class compile_session {
 public:
  /// The arguments must outlive it.
  compile_session(compiler_state& state, source const& code, compile_options const& options);

  /// See compiler::compile.
  compiled_source run();
  /// See compiler::compile_into.
  compiled_source run_into(std::filesystem::path const& layer);
  /// What the compile looked up so far.
  [[nodiscard]] header_lookups lookups();

 private:
  compiled_source make_result(stopwatch& watch);
  void read_inputs();
  void keep_source();
  [[nodiscard]] bool may_use_shipped() const;
  [[nodiscard]] cache_key make_shipped_key() const;
  std::shared_ptr<cached_link const> find_shipped();
  void write_shipped(std::filesystem::path const& layer);
  std::shared_ptr<cached_link const> find_or_make();
  [[nodiscard]] bool has_identities() const;
  cache_key make_key();
  void add_warnings(std::vector<std::string> const& warnings);

  compiler_state& state_;
  compiler_helpers helpers_;
  compile_inputs inputs_;
  source_compiler compiler_;
  std::vector<std::string> warnings_;
  compile_times times_;
  std::shared_ptr<cached_link const> product_;  ///< null: not found or made yet
  cache_outcome outcome_ = cache_outcome::off;
};

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
  tool_range const range([&] { return range_name(inputs_); });
  stopwatch watch;
  inputs_.read_contract(helpers_);
  if (may_use_shipped()) product_ = find_shipped();
  if (!product_ && !state_.is_offline) keep_source();
  return make_result(watch);
}

compiled_source compile_session::run_into(std::filesystem::path const& layer)
{
  tool_range const range([&] { return range_name(inputs_); });
  stopwatch watch;
  cache::refuse_layer_offline(stage::compiler, state_.is_offline);
  inputs_.read_contract(helpers_);
  auto result = make_result(watch);
  if (inputs_.is_cuda()) write_shipped(layer);
  return result;
}

/// Compiles, unless product_ is found already.
compiled_source compile_session::make_result(stopwatch& watch)
{
  if (!product_) {
    if (state_.is_offline) refuse_compile_offline(state_.settings.cache, inputs_);
    read_inputs();
    times_.read_ms = watch.lap();
    add_warnings(inputs_.warnings);
    product_ = find_or_make();
  }
  auto code = fatbin::from_bytes(product_->bytes, inputs_.subject.name);
  if (!product_->warnings.empty()) inputs_.name_header_files();
  add_warnings(compiler_.warnings());
  for (auto const& warning : product_->warnings)
    warnings_.push_back(with_user_name(warning, inputs_.subject));
  times_.open_ms = helpers_.open_ms();
  times_.compile_ms = compiler_.compile_ms();
  times_.lookup_ms = std::max(watch.lap() - times_.open_ms - times_.compile_ms, 0.0);
  if (cache::is_recording())
    cache::append_record(record_compile(inputs_.code, inputs_.options, code));
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

/// Not for layers, which would then contain a path of this machine.
void compile_session::keep_source()
{
  auto const& cache = state_.settings.cache;
  auto const is_in_memory = inputs_.is_cuda() && inputs_.code.folder().empty();
  if (!inputs_.options.line_info || !is_in_memory || !cache || cache->settings().folder.empty())
    return;
  try {
    inputs_.name_lines(cache::keep_source(cache->settings().folder, inputs_.subject.program_name,
                                          inputs_.code.text()));
  } catch (cache::folder_error const& failure) {
    warnings_.push_back(detail::format(
        "{}: the source lines name no file, because the source cannot be kept in the cache: {}",
        inputs_.subject.name, failure.message));
  }
}

/// Whether a compile that a package ships may be used, whatever NVRTC made it: not where the caller
/// or $FATLINK_NVRTC names the NVRTC to use, except in offline mode.
bool compile_session::may_use_shipped() const
{
  auto const& cache = state_.settings.cache;
  if (!inputs_.is_cuda() || !cache || cache->settings().layers.empty()) return false;
  return state_.is_offline ||
         (state_.settings.nvrtc.empty() && environment(nvrtc_library().variable).empty());
}

/// Of a compile that a package ships: names no compiler, and not whether the source was a file:
/// what was looked up beside it is recorded.
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
                                .allow_unconfined = state_.settings.allow_unconfined,
                                .has_folder = inputs_.has_folder()};
  if (inputs_.contract) conditions.nvrtc = state_.locate(source_language::cuda).identity;
  return compile_key(inputs_.make_program(), inputs_.headers->memory(), inputs_.options,
                     conditions);
}

}  // namespace

}  // namespace fatlink::detail

namespace fatlink {

struct compiler::state : detail::compiler_state {
  using compiler_state::compiler_state;
};

compiler::compiler(compiler_settings settings)
{
  detail::check_compiler_settings(settings);
  state_ = std::make_shared<state>(std::move(settings));
}

compiled_source compiler::compile(source const& code, compile_options const& options,
                                  header_lookups* lookups)
{
  detail::check_compile_options(options);
  detail::compile_session session(*state_, code, options);
  if (lookups == nullptr) return session.run();
  try {
    auto result = session.run();
    *lookups = session.lookups();
    return result;
  } catch (...) {
    *lookups = session.lookups();
    throw;
  }
}

compiled_source compiler::compile_into(std::filesystem::path const& layer, source const& code,
                                       compile_options const& options)
{
  detail::check_compile_options(options);
  return detail::compile_session(*state_, code, options).run_into(layer);
}

std::vector<std::filesystem::path> compiler::header_folders() const
{
  if (state_->is_offline) return {};
  return detail::cuda_headers(state_->locate(source_language::cuda), state_->settings.cache.get())
      .folders();
}

}  // namespace fatlink
