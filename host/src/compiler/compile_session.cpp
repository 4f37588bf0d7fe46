// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_session.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "compiler/assemble_fatbin.hpp"
#include "compiler/check_hooks.hpp"
#include "compiler/collect_headers.hpp"
#include "compiler/compile_key.hpp"
#include "compiler/compiler_options.hpp"
#include "compiler/compiler_version.hpp"
#include "compiler/find_hook_types.hpp"
#include "compiler/ir_messages.hpp"
#include "compiler/refuse_death.hpp"
#include "util/files/read_file.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"
#include "vendor_compiler/nvvm.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr int k_most_attempts = 64;  ///< each finds a header that a macro names
constexpr std::uint64_t k_most_library = std::uint64_t{16} << 20;

std::string read_text(fs::path const& file, char const* hint)
{
  auto const bytes = read_file(file, k_most_library, hint);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// The name of the program: that of the file, without its folder, which LTO-IR would have.
std::string program_name_of(std::string const& name)
{
  auto file = fs::path(name).filename().string();
  return file.empty() ? "source.cu" : file;
}

}  // namespace

compile_session::compile_session(compiler_state& state, source const& code,
                                 compile_options const& options)
    : state_(state),
      code_(code),
      options_(options),
      helpers_(state, code.name()),
      library_(state.locate(code.language())),
      subject_{.name = code.name(), .program_name = program_name_of(code.name())}
{
  producer_ = title_of(is_cuda() ? "NVRTC" : "libNVVM", version_of(library_.identity));
}

compiled_source compile_session::run()
{
  stopwatch watch;
  read_contract();
  headers_ = is_cuda() ? collect_headers() : header_set({}, {});
  if (!is_cuda()) prepare_ir();
  for (auto const& folder : headers_->folders()) subject_.folders.push_back(folder.string());
  times_.read_ms = watch.lap();
  auto const entry = find_or_make();
  auto code = fatbin::from_bytes(entry->bytes, code_.name());
  warnings_.insert(warnings_.begin(), entry->warnings.begin(), entry->warnings.end());
  times_.lookup_ms = watch.lap() - times_.open_ms - times_.compile_ms;
  if (code.ident()) producer_ = code.ident()->producer;
  return {.code = std::move(code),
          .warnings = std::move(warnings_),
          .cache = outcome_,
          .producer = std::move(producer_),
          .headers = header_files(),
          .times = times_};
}

std::vector<fs::path> compile_session::find_headers()
{
  read_contract();
  headers_ = is_cuda() ? collect_headers() : header_set({}, {});
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

/// The fatbin, from the cache if it has it. An entry without bytes names headers for another
/// attempt.
std::shared_ptr<cached_link const> compile_session::find_or_make()
{
  auto const& cache = state_.settings.cache;
  for (int attempts = 0; attempts < k_most_attempts; ++attempts) {
    std::shared_ptr<cached_link const> entry;
    auto subject = make_program();
    if (cache) {
      auto const key = compile_key(subject, options_,
                                   {.compiler = library_.identity,
                                    .contract = subject_.contract,
                                    .allow_unconfined = state_.settings.allow_unconfined});
      auto result = cache->find_or_make(key, [&] { return make(subject); });
      entry = std::move(result.link);
      outcome_ = result.outcome;
      for (auto& warning : cache->take_warnings()) warnings_.push_back(std::move(warning));
    } else {
      entry = std::make_shared<cached_link const>(make(subject).link);
    }
    if (!entry->bytes.empty()) return entry;
    for (auto const& name : entry->warnings) (void)headers_->add(name);
  }
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{}: more than {} headers are named by macros", code_.name(),
                                 k_most_attempts),
       .input = code_.name(),
       .code = error_code::above_limit,
       .hint = "name the headers in the #include directives, or compile it with nvcc"});
}

/// Adds libdevice, if the IR may call a function of it; check_libdevice tells if it lacks one.
void compile_session::prepare_ir()
{
  if (!code_.is_bitcode()) check_ir_text(code_.text(), subject_);
  if (!options_.header.empty() || !options_.definitions.empty())
    warnings_.push_back(
        detail::format("{}: headers and macros have no effect on LLVM IR", code_.name()));
  if (code_.text().find("__nv_") == std::string::npos && !code_.is_bitcode()) return;
  auto const file = libdevice_of(library_.path);
  if (!file.empty()) headers_->add_text("libdevice", read_text(file, "install libNVVM again"));
}

void compile_session::read_contract()
{
  if (!options_.contract.empty()) {
    contract_ = find_contract(options_.contract);
    subject_.contract = &*contract_;
    forced_header_ = {contract_->header_name, contract_->header_text};
  } else if (!options_.header.empty()) {
    forced_header_ = {options_.header.filename().string(),
                      read_text(options_.header, "pass the header that declares the hooks")};
  }
}

header_set compile_session::collect_headers()
{
  cuda_headers const places(library_, state_.settings.cache.get());
  auto [headers, problem] = detail::collect_headers(
      {code_, options_, forced_header_ ? &*forced_header_ : nullptr}, places, helpers_);
  if (!problem.empty())
    warnings_.push_back(
        detail::format("{} cannot unpack the headers that it brings: {}", producer_, problem));
  subject_.headers_problem = std::move(problem);
  return std::move(headers);
}

/// Without headers, NVRTC is first asked to leave its own declarations out, which takes half the
/// time.
program compile_session::make_program() const
{
  program subject{
      .name = subject_.program_name, .source = code_.text(), .headers = headers_->headers()};
  subject.compiles = is_cuda() ? nvrtc_compiles(options_, forced_names(), is_minimal(subject))
                               : nvvm_compiles(options_);
  return subject;
}

std::vector<std::string> compile_session::forced_names() const
{
  if (!forced_header_) return {};
  return {forced_header_->name};
}

bool compile_session::is_minimal(program const& subject) const
{
  return is_cuda() && subject.headers.size() == forced_names().size();
}

/// Compiles, or finds the name of a header for the next attempt.
compile_session::attempt compile_session::make(program& subject)
{
  auto products = compile(subject);
  if (is_minimal(subject) && !products.back().code.empty()) {
    subject.compiles = nvrtc_compiles(options_, forced_names(), false);
    products = compile(subject);
  }
  auto const& last = products.back();
  if (last.code.empty()) return make_fatbin(products);
  auto const header = missing_header_of(last.log);
  if (!header.empty() && headers_->add(header))
    return {.link = {.bytes = {}, .warnings = {header}}};
  if (is_out_of_memory(last)) refuse_memory(code_.name(), state_.settings);
  if (!is_cuda())
    refuse_ir_product(last, subject_,
                      {.target = options_.architectures.at((products.size() - 1) / 2),
                       .source = code_.text(),
                       .producer = producer_});
  refuse_product(last, subject_, headers_->refusal_of(header), producer_);
}

compile_session::attempt compile_session::make_fatbin(std::vector<compile_product> const& products)
{
  auto const version = version_of(library_.identity);
  compile_facts facts{.contract = subject_.contract, .producer = producer_, .toolkit = version};
  if (!is_known(version)) {
    facts.toolkit = stated_toolkit(products.front().ptx);
    facts.producer = title_of(producer_.c_str(), facts.toolkit);
  }
  hook_types types;
  if (contract_) {
    types = hook_types_of_contract();
    facts.hooks = types.mangled;
  }
  attempt made;
  made.link.bytes = assemble_fatbin(products, options_, facts, code_.name());
  for (auto const& product : products)
    for (auto& warning : compile_warnings(product.log, subject_))
      if (std::ranges::count(made.link.warnings, warning) == 0)
        made.link.warnings.push_back(std::move(warning));
  auto const module = fatbin::from_bytes(made.link.bytes, code_.name());
  if (!is_cuda()) check_libdevice(module, subject_, libdevice_of(library_.path));
  if (contract_) check_hooks(module, subject_, types);
  if (contract_ && !is_cuda()) check_ir_types(code_.text(), subject_, types);
  return made;
}

std::vector<compile_product> compile_session::compile(program const& subject)
{
  auto const tool = is_cuda() ? helper_tool::nvrtc : helper_tool::libnvvm;
  stopwatch watch;
  helpers_.start(tool);
  times_.open_ms += watch.lap();
  auto reply = helpers_.compile(tool, subject);
  times_.compile_ms += watch.lap();
  return std::move(reply.products);
}

hook_types compile_session::hook_types_of_contract()
try {
  return find_hook_types(*contract_, state_, helpers_);
} catch (unavailable_error const& missing) {
  if (is_cuda()) throw;
  auto details = missing.details();
  details.message = detail::format("{}: NVRTC reads the contract {}: {}", code_.name(),
                                   contract_->title(), details.message);
  throw unavailable_error(stage::compiler, std::move(details));
}

}  // namespace fatlink::detail
