// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/source_compiler.hpp"

#include <algorithm>
#include <utility>

#include "compiler/headers/compile_with_headers.hpp"
#include "compiler/ir/ir_messages.hpp"
#include "compiler/messages/compile_log.hpp"
#include "compiler/messages/compile_messages.hpp"
#include "compiler/messages/refuse_death.hpp"
#include "compiler/session/make_fatbin.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

/// The types of the hooks come first, before a helper that the source may take over.
cached_link source_compiler::make()
{
  find_types();
  auto const products = compile_all();
  if (!products.back().code.empty()) refuse(products.back(), products.size());
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
  auto& problem = inputs_.subject.headers_problem;
  auto products = compile_with_headers(work, *inputs_.headers, *inputs_.places, helpers_, problem);
  if (!problem.empty())
    warnings_.push_back(detail::format("{} cannot unpack the headers that it brings: {}",
                                       inputs_.producer, problem));
  return products;
}

/// `number`: of the compile that failed, from 1.
void source_compiler::refuse(compile_product const& product, std::size_t number)
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

}  // namespace fatlink::detail
