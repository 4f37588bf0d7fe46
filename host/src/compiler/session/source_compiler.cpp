// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/source_compiler.hpp"

#include <algorithm>
#include <utility>

#include "compiler/compiler_options.hpp"
#include "compiler/ir/ir_messages.hpp"
#include "compiler/messages/compile_log.hpp"
#include "compiler/messages/compile_messages.hpp"
#include "compiler/messages/refuse_death.hpp"
#include "compiler/session/make_fatbin.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr int k_most_late_headers = 64;

}  // namespace

/// The types of the hooks come first, before a helper that the source may take over.
cached_link source_compiler::make()
{
  find_types();
  for (int attempts = 0; attempts < k_most_late_headers; ++attempts)
    if (auto const products = compile_all(); is_final(products)) {
      if (declarations_ == declaration_state::unknown) refuse_declarations(inputs_.subject);
      auto const agreement = compare_ir_types(products.front().ptx);
      return make_fatbin(products, inputs_, types_, agreement);
    }
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{}: more than {} headers are named by macros",
                                 inputs_.subject.name, k_most_late_headers),
       .input = inputs_.subject.name,
       .code = error_code::above_limit,
       .hint = "name the headers in the #include directives, or compile it with nvcc"});
}

program const& source_compiler::probe()
{
  if (!probe_) probe_ = find_hook_probe(*inputs_.contract, state_, helpers_);
  return *probe_;
}

/// Once for each compile: helpers that hold the source are not asked.
void source_compiler::find_types()
{
  if (!inputs_.contract) return;
  types_ = types_of_contract();
  if (!inputs_.is_cuda()) return;
  declarations_ =
      compare_declarations(*inputs_.contract, probe(), types_, inputs_.options, state_, helpers_);
  if (declarations_ == declaration_state::different) refuse_declarations(inputs_.subject);
}

std::vector<compile_product> source_compiler::compile_all()
{
  auto products = compile(inputs_.make_program());
  if (!inputs_.is_minimal() || products.back().code.empty()) return products;
  return compile(inputs_.make_full_program());
}

/// Whether the compile succeeded; false: it named a header, which is in the set now.
bool source_compiler::is_final(std::vector<compile_product> const& products)
{
  auto last = products.back();
  if (last.code.empty()) return true;
  last.log = header_set::with_spelled_names(std::move(last.log));
  auto const header = missing_header_of(last.log);
  if (header.empty() || !inputs_.headers->add(header)) refuse(last, header, products.size());
  late_headers_.push_back(header);
  return false;
}

/// `header`: that the compiler did not find, or empty. `number`: of the compile that failed,
/// from 1.
void source_compiler::refuse(compile_product const& product, std::string const& header,
                             std::size_t number)
{
  inputs_.name_header_files();
  auto const& subject = inputs_.subject;
  if (is_out_of_memory(product)) refuse_memory(subject.name, state_.settings);
  if (!inputs_.is_cuda())
    refuse_ir_product(product, subject,
                      {.target = inputs_.options.architectures.at((number - 1) / 2),
                       .source = inputs_.code.text(),
                       .producer = inputs_.producer});
  refuse_product(product, subject, inputs_.headers->refusal_of(header), inputs_.producer);
}

/// A compiler without its sandbox can read files: what names one is refused before it starts.
/// @throws compile_error (header_not_found) as if the compiler had found no such file.
void source_compiler::check_confinement(helper_tool tool)
{
  auto const& layers = helpers_.hello(tool).layers;
  auto const layer = std::ranges::find_if(
      layers, [](std::string const& state) { return state.starts_with("seccomp: off"); });
  if (layer == layers.end()) return;
  auto warning = detail::format("{}: {} runs without its sandbox, which this compiler permits: {}",
                                inputs_.subject.name, inputs_.producer, *layer);
  if (std::ranges::count(warnings_, warning) == 0) warnings_.push_back(std::move(warning));
  if (auto const name = inputs_.headers->outside(); !name.empty())
    refuse_product(
        {.log = detail::format("{}(0): catastrophic error: could not open source file \"{}\"",
                               inputs_.subject.program_name, name)},
        inputs_.subject, inputs_.headers->refusal_of(name), inputs_.producer);
}

std::vector<compile_product> source_compiler::compile(program const& subject)
{
  auto const tool = inputs_.is_cuda() ? helper_tool::nvrtc : helper_tool::libnvvm;
  check_confinement(tool);
  stopwatch watch;
  auto reply = helpers_.compile(tool, subject);
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

hook_types source_compiler::types_of_contract()
try {
  return find_hook_types(*inputs_.contract, probe(), state_, helpers_);
} catch (unavailable_error const& missing) {
  if (inputs_.is_cuda()) throw;
  auto details = missing.details();
  details.message = detail::format("{}: NVRTC reads the contract {}: {}", inputs_.subject.name,
                                   inputs_.contract->title(), details.message);
  throw unavailable_error(stage::compiler, std::move(details));
}

}  // namespace fatlink::detail
