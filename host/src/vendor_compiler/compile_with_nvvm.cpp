// SPDX-License-Identifier: Apache-2.0
#include "vendor_compiler/compile_with_nvvm.hpp"

#include <algorithm>

namespace fatlink::detail {
namespace {

class nvvm_session {
 public:
  explicit nvvm_session(nvvm_functions const& api) : api_(api), handle_(nullptr, {&api})
  {
    nvvm_functions::program raw = nullptr;
    code_ = api.create(&raw);
    handle_.reset(raw);
  }

  compile_product compile(program const& subject, std::vector<std::string> const& options)
  {
    std::vector<char const*> texts;
    for (auto const& option : options) texts.push_back(option.c_str());
    auto const count = static_cast<int>(texts.size());
    step([&] {
      return api_.add(handle_.get(), subject.source.data(), subject.source.size(),
                      subject.name.c_str());
    });
    for (auto const& library : subject.headers)
      step([&] {
        auto const add = library.name.ends_with(".ll") ? api_.add : api_.add_lazily;
        return add(handle_.get(), library.text.data(), library.text.size(), library.name.c_str());
      });
    step([&] { return api_.verify(handle_.get(), count, texts.data()); });
    step([&] { return api_.compile(handle_.get(), count, texts.data()); });
    compile_product product;
    if (handle_) product.log = log();
    if (code_ != 0) product.code = api_.error_name(code_);
    auto const is_lto = std::find(options.begin(), options.end(), "-gen-lto") != options.end();
    if (code_ == 0) (is_lto ? product.ltoir : product.ptx) = result(!is_lto);
    return product;
  }

 private:
  /// Calls `function` unless an earlier step has failed.
  template <typename Function>
  void step(Function const& function)
  {
    if (code_ == 0) code_ = function();
  }

  byte_buffer result(bool is_text)
  {
    std::size_t size = 0;
    if (api_.result_size(handle_.get(), &size) != 0) return {};
    byte_buffer bytes(size);
    if (api_.result(handle_.get(), reinterpret_cast<char*>(bytes.data())) != 0) return {};
    while (is_text && !bytes.empty() && bytes.back() == std::byte{0}) bytes.pop_back();
    return bytes;
  }

  std::string log()
  {
    std::size_t size = 0;
    if (api_.log_size(handle_.get(), &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    if (api_.log(handle_.get(), text.data()) != 0) return {};
    return trim_compile_log(std::move(text));
  }

  nvvm_functions const& api_;
  std::unique_ptr<struct nvvm_program_state, program_destroyer<nvvm_functions>> handle_;
  int code_ = 0;
};

}  // namespace

std::vector<compile_product> compile_with_nvvm(nvvm const& compiler, program const& subject)
{
  std::vector<compile_product> products;
  for (auto const& call : subject.compiles) {
    products.push_back(nvvm_session(compiler.functions()).compile(subject, call.options));
    if (!products.back().code.empty()) break;
  }
  return products;
}

}  // namespace fatlink::detail
