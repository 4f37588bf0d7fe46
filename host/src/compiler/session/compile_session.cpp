// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/compile_session.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "compiler/compiler_options.hpp"
#include "compiler/compiler_version.hpp"
#include "compiler/contract/check_hooks.hpp"
#include "compiler/contract/find_hook_types.hpp"
#include "compiler/headers/collect_headers.hpp"
#include "compiler/ir/ir_messages.hpp"
#include "compiler/messages/refuse_death.hpp"
#include "compiler/session/assemble_fatbin.hpp"
#include "compiler/session/compile_key.hpp"
#include "util/files/read_file.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"
#include "vendor_compiler/nvvm.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr int k_most_late_headers = 64;  ///< headers that only the compiler finds
constexpr std::uint64_t k_most_library = std::uint64_t{16} << 20;

std::string read_text(fs::path const& file, char const* hint)
{
  auto const bytes = read_file(file, k_most_library, hint);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// The name of the program: that of the file, without its folder, which LTO-IR would have, and
/// without letters that options and PTX read otherwise.
std::string program_name_of(std::string const& name)
{
  auto file = fs::path(name).filename().string();
  for (auto& letter : file) {
    auto const value = static_cast<unsigned char>(letter);
    if (value < 0x80 && std::isalnum(value) == 0 && letter != '.' && letter != '-') letter = '_';
  }
  if (file.starts_with('-')) file.front() = '_';
  return file.empty() ? "source.cu" : file;
}

/// The key of the names of headers that a compile with `key` found late.
cache_key late_headers_key(cache_key key)
{
  return key.add("result", "headers");
}

/// `text` without the mark of UTF-8 at its start.
std::string without_mark(std::string const& text)
{
  constexpr std::string_view k_mark = "\xEF\xBB\xBF";
  return text.starts_with(k_mark) ? text.substr(k_mark.size()) : text;
}

}  // namespace

compile_session::compile_session(compiler_state& state, source const& code,
                                 compile_options const& options)
    : state_(state),
      code_(code),
      options_(options),
      helpers_(state, printable(code.name())),
      library_(state.locate(code.language())),
      subject_{.name = printable(code.name()), .program_name = program_name_of(code.name())}
{
  producer_ = title_of(is_cuda() ? "NVRTC" : "libNVVM", version_of(library_.identity));
}

compiled_source compile_session::run()
{
  stopwatch watch;
  read_contract();
  read_headers();
  if (!is_cuda()) prepare_ir();
  for (auto const& folder : headers_->folders()) subject_.folders.push_back(folder.string());
  times_.read_ms = watch.lap();
  auto const entry = find_or_make();
  auto code = fatbin::from_bytes(entry->bytes, subject_.name);
  if (!entry->warnings.empty()) name_header_files();
  for (auto const& warning : entry->warnings) warnings_.push_back(named_warning(warning, subject_));
  times_.open_ms = helpers_.open_ms();
  times_.lookup_ms = std::max(watch.lap() - times_.open_ms - times_.compile_ms, 0.0);
  if (code.ident()) producer_ = code.ident()->producer;
  return {.code = std::move(code),
          .warnings = std::move(warnings_),
          .cache = outcome_,
          .producer = std::move(producer_),
          .headers = header_files(),
          .times = times_};
}

/// Relative to the working folder, if they are below it.
void compile_session::name_header_files()
{
  std::error_code failure;
  auto const here = fs::current_path(failure);
  for (auto const& [name, file] : headers_->files_by_name()) {
    auto const relative = failure ? fs::path() : file.lexically_relative(here);
    auto const is_below = !relative.empty() && *relative.begin() != "..";
    subject_.header_files[name] = printable((is_below ? relative : file).string());
  }
}

void compile_session::read_headers()
{
  if (is_cuda())
    headers_ = collect_headers();
  else
    headers_.emplace(header_sources());
}

std::vector<fs::path> compile_session::find_headers()
{
  read_contract();
  read_headers();
  auto files = header_files();
  auto const missing = headers_->missing_files();
  files.insert(files.end(), missing.begin(), missing.end());
  return files;
}

std::vector<fs::path> compile_session::header_files() const
{
  auto files = headers_->files();
  if (!options_.header.empty()) files.push_back(options_.header);
  return files;
}

/// The fatbin, from the cache if it has it. No helper is held where this waits for another compile:
/// that one may wait for a helper.
std::shared_ptr<cached_link const> compile_session::find_or_make()
{
  auto const& cache = state_.settings.cache;
  if (!cache) return std::make_shared<cached_link const>(make());
  auto const key = add_known_headers(*cache);
  auto result = helpers_.find_or_make(key, [&] {
    auto link = make();
    return link_cache::product{.link = std::move(link), .keep = late_headers_.empty()};
  });
  helpers_.release();
  outcome_ = result.outcome;
  if (!late_headers_.empty()) store_late(key, *result.link);
  for (auto& warning : cache->take_warnings()) warnings_.push_back(std::move(warning));
  return std::move(result.link);
}

/// Adds the headers that an earlier compile of the same texts found late, as long as they are
/// there. Returns the key of the compile.
cache_key compile_session::add_known_headers(link_cache& cache)
{
  auto key = key_of(make_program());
  for (int rounds = 0; is_cuda() && rounds < k_most_late_headers; ++rounds) {
    auto const names_key = late_headers_key(key);
    if (!cache.has(names_key)) break;
    auto const entry =
        helpers_.find_or_make(names_key, [] { return link_cache::product{.keep = false}; });
    bool is_changed = false;
    for (auto const& name : entry.link->warnings) is_changed = headers_->add(name) || is_changed;
    if (!is_changed) break;
    key = key_of(make_program());
  }
  return key;
}

/// Stores `link`, which is not the one of `key`, by the key with the headers that were found late,
/// and by `key` the names of those.
void compile_session::store_late(cache_key const& key, cached_link const& link)
{
  (void)helpers_.find_or_make(key_of(make_program()),
                              [&] { return link_cache::product{.link = link}; });
  (void)helpers_.find_or_make(late_headers_key(key), [&] {
    return link_cache::product{.link = {.warnings = late_headers_}};
  });
}

cache_key compile_session::key_of(program const& subject)
{
  compile_conditions conditions{.compiler = library_.identity,
                                .contract = subject_.contract,
                                .allow_unconfined = state_.settings.allow_unconfined};
  if (contract_) {
    conditions.hook_probe = &probe();
    conditions.nvrtc = state_.locate(source_language::cuda).identity;
  }
  return compile_key(subject, options_, conditions);
}

/// The program that states the types of the contract's hooks.
program const& compile_session::probe()
{
  if (!probe_) probe_ = find_hook_probe(*contract_, state_, helpers_);
  return *probe_;
}

/// Adds libdevice, if the IR may call a function of it; check_libdevice tells if it lacks one.
void compile_session::prepare_ir()
{
  if (!code_.is_bitcode()) check_ir_text(code_.text(), subject_);
  if (!options_.header.empty() || !options_.definitions.empty() ||
      !options_.include_folders.empty() || options_.standard != compile_options().standard)
    warnings_.push_back(detail::format(
        "{}: headers, their folders, macros and the C++ standard have no effect on LLVM IR",
        subject_.name));
  if (code_.text().find("__nv_") == std::string::npos && !code_.is_bitcode()) return;
  auto const file = libdevice_of(library_.path);
  if (!file.empty()) headers_->add_text("libdevice", read_text(file, "install libNVVM again"));
}

void compile_session::read_contract()
{
  if (!options_.contract.empty()) {
    contract_ = find_contract(options_.contract);
    subject_.contract = &*contract_;
    forced_header_ = forced_header_of(*contract_);
  } else if (!options_.header.empty()) {
    forced_header_ = {
        .file_name = options_.header.filename().string(),
        .text = read_text(options_.header, "pass the header that declares the hooks")};
  }
}

header_set compile_session::collect_headers()
{
  cuda_headers const places(library_, state_.settings.cache.get());
  auto collected = detail::collect_headers({.code = code_.text(),
                                            .options = options_,
                                            .forced = forced_header_ ? &*forced_header_ : nullptr},
                                           places, helpers_);
  if (!collected.problem.empty())
    warnings_.push_back(detail::format("{} cannot unpack the headers that it brings: {}", producer_,
                                       collected.problem));
  subject_.headers_problem = std::move(collected.problem);
  forced_name_ = std::move(collected.forced_name);
  return std::move(collected.headers);
}

/// Without headers, NVRTC is first asked to leave its own declarations out, which takes half the
/// time.
program compile_session::make_program() const
{
  program subject{.name = subject_.program_name,
                  .source = without_mark(code_.text()),
                  .headers = headers_->headers()};
  subject.compiles =
      is_cuda() ? nvrtc_compiles(options_, forced_names(), is_minimal()) : nvvm_compiles(options_);
  return subject;
}

std::vector<std::string> compile_session::forced_names() const
{
  if (forced_name_.empty()) return {};
  return {forced_name_};
}

bool compile_session::is_minimal() const
{
  return is_cuda() && headers_->has_only_forced();
}

/// Compiles, again for each header that only the compiler finds. The types of the hooks come first,
/// before a helper that the source may take over.
cached_link compile_session::make()
{
  find_types();
  for (int attempts = 0; attempts < k_most_late_headers; ++attempts)
    if (auto const products = compile_all(); is_final(products)) return make_fatbin(products);
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{}: more than {} headers are named by macros", subject_.name,
                                 k_most_late_headers),
       .input = subject_.name,
       .code = error_code::above_limit,
       .hint = "name the headers in the #include directives, or compile it with nvcc"});
}

/// Once for each compile: helpers that hold the source are not asked.
void compile_session::find_types()
{
  if (!contract_) return;
  types_ = hook_types_of_contract();
  if (!is_cuda()) return;
  declarations_ = compare_declarations(*contract_, probe(), types_, options_, state_, helpers_);
  if (declarations_ == declaration_state::different) refuse_declarations(subject_);
}

std::vector<compile_product> compile_session::compile_all()
{
  auto subject = make_program();
  auto products = compile(subject);
  if (!is_minimal() || products.back().code.empty()) return products;
  subject.compiles = nvrtc_compiles(options_, forced_names(), false);
  return compile(subject);
}

/// Whether the compile succeeded; false: it named a header, which is in the set now.
/// @throws compile_error, unavailable_error it failed.
bool compile_session::is_final(std::vector<compile_product> const& products)
{
  auto const& last = products.back();
  if (last.code.empty()) return true;
  auto const header = missing_header_of(last.log);
  if (!header.empty() && headers_->add(header)) {
    late_headers_.push_back(header);
    return false;
  }
  name_header_files();
  if (is_out_of_memory(last)) refuse_memory(subject_.name, state_.settings);
  if (!is_cuda())
    refuse_ir_product(last, subject_,
                      {.target = options_.architectures.at((products.size() - 1) / 2),
                       .source = code_.text(),
                       .producer = producer_});
  refuse_product(last, subject_, headers_->refusal_of(header), producer_);
}

/// @throws compile_error (above_limit) the products are too large.
void compile_session::check_size(std::vector<compile_product> const& products)
{
  constexpr std::size_t k_most_mib = 64;
  std::size_t size = 0;
  for (auto const& product : products)
    size += product.ptx.size() + product.ltoir.size() + product.cubin.size();
  if (size <= k_most_mib << 20) return;
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{}: compiles to more than {} MiB", subject_.name, k_most_mib),
       .input = subject_.name,
       .code = error_code::above_limit,
       .hint = "use smaller arrays with initial values, or fewer architectures"});
}

/// A compiler without its sandbox can read files: what names one is refused before it starts.
/// @throws compile_error (header_not_found) as if the compiler had found no such file.
void compile_session::check_confinement(helper_tool tool)
{
  auto const& layers = helpers_.hello(tool).layers;
  auto const layer = std::ranges::find_if(
      layers, [](std::string const& state) { return state.starts_with("seccomp: off"); });
  if (layer == layers.end()) return;
  auto warning = detail::format("{}: {} runs without its sandbox, which this compiler permits: {}",
                                subject_.name, producer_, *layer);
  if (std::ranges::count(warnings_, warning) == 0) warnings_.push_back(std::move(warning));
  if (auto const name = headers_->outside(); !name.empty())
    refuse_product(
        {.log = detail::format("{}(0): catastrophic error: could not open source file \"{}\"",
                               subject_.program_name, name)},
        subject_, headers_->refusal_of(name), producer_);
}

cached_link compile_session::make_fatbin(std::vector<compile_product> const& products)
{
  check_size(products);
  if (declarations_ == declaration_state::unknown) refuse_declarations(subject_);
  auto const version = version_of(library_.identity);
  compile_facts facts{.contract = subject_.contract,
                      .hooks = types_.mangled,
                      .producer = producer_,
                      .toolkit = version};
  if (!is_known(version)) {
    facts.toolkit = stated_toolkit(products.front().ptx);
    facts.producer = title_of(producer_.c_str(), facts.toolkit);
  }
  auto agreement = ir_agreement::same;
  if (contract_ && !is_cuda()) agreement = compare_ir_types(products.front().ptx);
  if (agreement == ir_agreement::unknown) facts.contract = nullptr;
  cached_link link{.bytes = assemble_fatbin(products, options_, facts, subject_.name)};
  link.warnings = compile_warnings(products);
  auto const module = fatbin::from_bytes(link.bytes, subject_.name);
  if (!is_cuda()) check_libdevice(module, subject_, libdevice_of(library_.path));
  if (contract_) check_hooks(module, subject_, types_);
  if (is_empty(module))
    link.warnings.push_back(detail::format(
        "{}: defines no function that a link sees (a static or inline one does not count)",
        subject_.program_name));
  if (contract_ && !is_cuda()) check_ir_types(code_.text(), subject_, types_, agreement);
  if (agreement == ir_agreement::unknown)
    link.warnings.push_back(detail::format(
        "{}: states no contract: whether its hooks have the types of the contract {} "
        "cannot be established for LLVM IR",
        subject_.program_name, contract_->title()));
  return link;
}

std::vector<compile_product> compile_session::compile(program const& subject)
{
  auto const tool = is_cuda() ? helper_tool::nvrtc : helper_tool::libnvvm;
  check_confinement(tool);
  stopwatch watch;
  auto reply = helpers_.compile(tool, subject);
  times_.compile_ms += watch.lap();
  return std::move(reply.products);
}

ir_agreement compile_session::compare_ir_types(byte_buffer const& ptx)
{
  auto const text_of = [](byte_buffer const& bytes) {
    return std::string_view(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  };
  auto const module = read_ptx_interface(text_of(ptx), subject_.name);
  auto const subject = make_program();
  ir_subject const code{subject, module, options_.architectures.front()};
  auto const type_probe = ir_type_probe(code, types_);
  if (!type_probe) return ir_agreement::unknown;
  if (type_probe->headers.empty()) return ir_agreement::same;
  auto const product = std::move(compile(*type_probe).back());
  if (!product.code.empty()) return ir_agreement::unknown;
  return read_ir_agreement(text_of(product.ptx), text_of(ptx), code, types_);
}

hook_types compile_session::hook_types_of_contract()
try {
  return find_hook_types(*contract_, probe(), state_, helpers_);
} catch (unavailable_error const& missing) {
  if (is_cuda()) throw;
  auto details = missing.details();
  details.message = detail::format("{}: NVRTC reads the contract {}: {}", subject_.name,
                                   contract_->title(), details.message);
  throw unavailable_error(stage::compiler, std::move(details));
}

}  // namespace fatlink::detail
