// SPDX-License-Identifier: Apache-2.0
#include "fatlink/input.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "fatbin/entry_facts.hpp"
#include "fatlink/source.hpp"
#include "input/find_sidecar.hpp"
#include "input/input_forms.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/process/immortal.hpp"

namespace fatlink {
namespace {

byte_buffer read_input_file(std::filesystem::path const& path)
{
  return detail::read_file(path, limits::k_file_bytes,
                           "pass a fatbin, PTX, raw LTO-IR, a cubin, an object or an archive");
}

}  // namespace

char const* to_string(input_form form) noexcept
{
  constexpr std::array k_names{"fatbin", "ptx", "ltoir", "cubin", "object", "archive"};
  static_assert(k_names.size() == static_cast<std::size_t>(input_form::archive) + 1);
  auto const index = static_cast<std::size_t>(form);
  return index < k_names.size() ? k_names[index] : "unknown";
}

struct input_access {
  static detail::sidecar_ptr sidecar_of(input const& file);
};

struct input::contents {
  enum class digests { compare, ignore };

  /// The contents of `file_bytes`.
  static std::shared_ptr<contents> read(byte_buffer file_bytes, std::string file_name, digests use,
                                        std::optional<digest256> sidecar_digest = {});
  [[nodiscard]] fatbin make_module(byte_buffer module_bytes, std::string module_name,
                                   digests use) const;
  void add_modules(digests use);

  std::string name;
  input_form form = input_form::fatbin;
  byte_buffer bytes;  ///< empty for a fatbin of one container, whose module owns them
  std::vector<fatbin> modules;
  std::optional<digest256> sidecar_digest;  ///< stated by the sidecar, and that of `bytes`
  bool is_compared = true;                  ///< with the digest of the sidecar
  mutable detail::made_once<std::monostate, detail::sidecar_ptr> sidecar;
  std::shared_ptr<declaration_count> declarations = std::make_shared<declaration_count>();
  mutable std::once_flag hashed;
  mutable digest256 digest{};
};

fatbin input::contents::make_module(byte_buffer module_bytes, std::string module_name,
                                    digests use) const
{
  auto parsed = use == digests::ignore
                    ? fatbin::list_entries(std::move(module_bytes), std::move(module_name))
                    : fatbin::parse(std::move(module_bytes), std::move(module_name));
  return fatbin::shared(std::move(parsed), sidecar_digest.has_value(), declarations);
}

void input::contents::add_modules(digests use)
{
  if (form == input_form::fatbin && detail::split_containers(bytes).size() == 1) {
    modules.push_back(make_module(std::move(bytes), name, use));
    return;
  }
  for (auto& module : detail::read_modules(bytes, form, name))
    modules.push_back(make_module(std::move(module.bytes), std::move(module.name), use));
}

std::shared_ptr<input::contents> input::contents::read(byte_buffer file_bytes,
                                                       std::string file_name, digests use,
                                                       std::optional<digest256> sidecar_digest)
{
  auto result = std::make_shared<contents>();
  result->form = detail::require_form(file_bytes, file_name);
  result->name = std::move(file_name);
  result->bytes = std::move(file_bytes);
  result->sidecar_digest = sidecar_digest;
  result->is_compared = use == digests::compare;
  result->add_modules(use);
  return result;
}

input::input(fatbin file)
{
  if (!file.has_value()) return;
  auto result = std::make_shared<contents>();
  result->name = file.name();
  if (auto const& sidecar = entry_access::sidecar_of(file)) result->sidecar.keep({}, sidecar);
  result->modules.push_back(std::move(file));
  contents_ = std::move(result);
}

input::input(std::shared_ptr<contents const> shared) : contents_(std::move(shared)) {}

input input::read(std::filesystem::path const& path)
{
  auto bytes = read_input_file(path);
  auto found = detail::find_sidecar(path, bytes);
  auto result =
      contents::read(std::move(bytes), path.string(), contents::digests::compare, found.digest);
  result->sidecar.keep({}, std::move(found.sidecar));
  return input(std::move(result));
}

input input::read_unverified(std::filesystem::path const& path)
{
  return input(contents::read(read_input_file(path), path.string(), contents::digests::ignore));
}

input input::from_bytes(byte_buffer bytes, std::string name)
{
  return input(contents::read(std::move(bytes), std::move(name), contents::digests::compare));
}

detail::sidecar_ptr input_access::sidecar_of(input const& file)
{
  auto const& contents = *file.contents_;
  if (auto const* known = contents.sidecar.find({})) return *known;
  auto sidecar = detail::find_sidecar(contents.name);
  // The digest beside a source is that of what was compiled of it.
  if (sidecar && contents.is_compared && !is_source_name(contents.name))
    detail::require_digest(
        sidecar, contents.name, file.digest(),
        "the files were replaced after the input was read: read it again; <fatlink::watch> "
        "returns the next version");
  return *contents.sidecar.keep({}, std::move(sidecar)).first;
}

detail::sidecar_ptr detail::sidecar_of(input const& file)
{
  return input_access::sidecar_of(file);
}

std::string const& input::name() const noexcept
{
  return contents_->name;
}

input_form input::form() const noexcept
{
  return contents_->form;
}

bytes_view input::bytes() const noexcept
{
  return contents_->bytes.empty() ? modules().front().bytes() : bytes_view(contents_->bytes);
}

digest256 const& input::digest() const
{
  if (contents_->bytes.empty()) return modules().front().digest();
  if (contents_->sidecar_digest) return *contents_->sidecar_digest;
  std::call_once(contents_->hashed,
                 [this] { contents_->digest = detail::sha256(contents_->bytes); });
  return contents_->digest;
}

bool input::is_verified() const noexcept
{
  return std::all_of(modules().begin(), modules().end(),
                     [](fatbin const& module) { return module.is_verified(); });
}

std::vector<fatbin> const& input::modules() const noexcept
{
  return contents_->modules;
}

}  // namespace fatlink
