// SPDX-License-Identifier: Apache-2.0
#include "input/input_forms.hpp"

#include "fatbin/recognize_form.hpp"
#include "input/refuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_forms = "fatbin, ptx, ltoir, cubin, object, archive, source or nvvm-ir";
constexpr char const* k_compile_hint =
    "pass a fatbin, PTX, raw LTO-IR, a cubin, an object or an archive; nvcc -dlto -fatbin "
    "-arch=sm_75 FILE.cu -o FILE.fatbin makes a fatbin";
constexpr char const* k_source_hint =
    "<compile it first with fatlink::compiler>, or: nvcc -dlto -fatbin -arch=sm_75 FILE.cu "
    "-o FILE.fatbin";
constexpr char const* k_nvvm_ir_hint =
    "<compile it first with fatlink::compiler>, or with clang to PTX";

std::optional<input_form> form_of(file_kind kind)
{
  switch (kind) {
    case file_kind::fatbin:
      return input_form::fatbin;
    case file_kind::ptx:
      return input_form::ptx;
    case file_kind::ltoir:
      return input_form::ltoir;
    case file_kind::cubin:
      return input_form::cubin;
    case file_kind::object:
      return input_form::object;
    case file_kind::archive:
      return input_form::archive;
    case file_kind::source:
    case file_kind::nvvm_ir:
    case file_kind::other:
      break;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_source(file_form const& form, std::string_view name)
{
  auto const is_source = form.kind == file_kind::source;
  refuse_input(error_code::unknown_form, name,
               detail::format("is {} (form {}), which is not linked before it is compiled",
                              form.description, is_source ? "source" : "nvvm-ir"),
               is_source ? k_source_hint : k_nvvm_ir_hint);
}

[[noreturn]] void refuse_form(file_form const& form, std::string_view name)
{
  if (form.kind != file_kind::other) refuse_source(form, name);
  refuse_input(error_code::unknown_form, name,
               detail::format("is {}, none of the forms {}", form.description, k_forms),
               form.remedy == k_compile_remedy ? k_compile_hint : form.remedy);
}

}  // namespace

std::optional<input_form> recognize(bytes_view bytes)
{
  return bytes.empty() ? std::nullopt : form_of(recognize_form(bytes).kind);
}

input_form require_form(bytes_view bytes, std::string_view name)
{
  if (bytes.empty())
    refuse_input(error_code::empty_input, name, "the file is empty",
                 "build it again, or copy it again in full");
  auto const form = recognize_form(bytes);
  if (auto const known = form_of(form.kind)) return *known;
  refuse_form(form, name);
}

}  // namespace fatlink::detail
