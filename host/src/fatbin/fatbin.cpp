// SPDX-License-Identifier: Apache-2.0
#include "fatlink/fatbin.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <variant>

#include "cubin/cubin.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/ptx_interface.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

byte_buffer read_fatbin_file(std::filesystem::path const& path)
{
  return detail::read_file(path, limits::k_file_bytes, "pass the .fatbin that nvcc made");
}

std::size_t count_declarations(ptx_interface const& interface)
{
  auto count = interface.variables.size() + interface.external_variables.size();
  for (auto const* list :
       {&interface.kernels, &interface.definitions, &interface.weak, &interface.hooks})
    for (auto const& function : *list)
      count += 1 + function.results.size() + function.parameters.size();
  return count;
}

[[noreturn]] void fail_declarations(fatbin_entry const& entry, std::string const& name,
                                    char const* parts, char const* hint)
{
  throw format_error(entry.offset,
                     {.message = detail::format("{}: {} declare more than {} functions, parameters "
                                                "and variables together, the limit",
                                                name, parts, limits::k_fatbin_declarations),
                      .input = name,
                      .code = error_code::above_limit,
                      .hint = hint});
}

/// The facts of an elf entry, which must be for the architecture that its header states.
detail::entry_facts read_elf_facts(fatbin_entry const& entry, std::string const& name)
{
  auto const part = detail::format("the elf entry at byte {}", entry.offset);
  auto cubin = detail::read_cubin(read_elf(entry, name), {name, part});
  if (cubin.target.number() != entry.target.number() ||
      (cubin.has_exact_target && cubin.target != entry.target))
    throw format_error(stage::input, entry.offset,
                       {.message = detail::format("{}: {} is for {}, but its cubin for {}", name,
                                                  part, entry.target.name(), cubin.target.name()),
                        .input = name,
                        .code = error_code::corrupt_cubin,
                        .hint = "build it again, or copy it again in full"});
  return {std::move(cubin.interface), cubin.is_relocatable, cubin.toolkit};
}

detail::entry_facts read_facts(fatbin_entry const& entry, std::string const& name)
{
  if (entry.kind == entry_kind::elf) return read_elf_facts(entry, name);
  return {.interface = read_ptx_interface(read_ptx(entry, name), name)};
}

}  // namespace

char const* to_string(entry_kind kind) noexcept
{
  switch (kind) {
    case entry_kind::ptx:
      return "ptx";
    case entry_kind::elf:
      return "elf";
    case entry_kind::ltoir:
      return "ltoir";
    case entry_kind::tileir:
      return "tileir";
  }
  return "unknown";
}

std::string name_of(entry_kind kind)
{
  std::string text = to_string(kind);
  return text == "unknown" ? detail::format("kind {:#x}", static_cast<unsigned>(kind)) : text;
}

char const* to_string(compression method) noexcept
{
  switch (method) {
    case compression::none:
      return "none";
    case compression::lz4:
      return "lz4";
    case compression::zstd:
      return "zstd";
    case compression::unknown:
      break;
  }
  return "unknown";
}

struct fatbin::contents {
  /// Counts the declarations of `entry`. @throws format_error above-limit.
  void add_declarations(fatbin_entry const& entry, std::size_t count) const;
  /// Of an entry that another thread counted, too.
  void remove_declarations(std::size_t count) const noexcept
  {
    declarations -= count;
    if (declarations_of_input) declarations_of_input->value -= count;
  }

  std::string name;
  byte_buffer bytes;
  std::vector<fatbin_entry> entries;
  bool is_verified = false;
  detail::sidecar_ptr sidecar;  ///< that read() found
  mutable std::once_flag hashed;
  mutable digest256 digest{};
  // Not std::call_once(): an exception in it ends a program whose unwinder is linked statically.
  mutable detail::made_once<std::monostate, std::optional<fatlink::ident>> ident;
  mutable detail::made_once<fatbin_entry const*, detail::entry_facts>
      facts;                                                 ///< of the entries read so far
  mutable std::atomic<std::size_t> declarations = 0;         ///< in `facts`
  std::shared_ptr<declaration_count> declarations_of_input;  ///< null: it is no module of an input
};

void fatbin::contents::add_declarations(fatbin_entry const& entry, std::size_t count) const
{
  if ((declarations += count) > limits::k_fatbin_declarations)
    fail_declarations(entry, name, "its entries",
                      "split it into several fatbins, each with fewer architectures or sources");
  if (declarations_of_input &&
      (declarations_of_input->value += count) > limits::k_fatbin_declarations)
    fail_declarations(entry, name, "the modules of its input",
                      "split the input into several files, each with fewer sources");
}

fatbin::fatbin(std::shared_ptr<contents const> contents_of_file)
    : contents_(std::move(contents_of_file))
{
}

fatbin fatbin::read(std::filesystem::path const& path)
{
  auto bytes = read_fatbin_file(path);
  auto found =
      path.extension() == ".json"
          ? detail::checked_sidecar{}
          : detail::check_digest(detail::read_sidecar(detail::sidecar_path(path)), path, bytes);
  auto parsed = parse(std::move(bytes), path.string());
  if (found.digest) std::call_once(parsed->hashed, [&] { parsed->digest = *found.digest; });
  parsed->sidecar = std::move(found.sidecar);
  return shared(std::move(parsed), found.digest.has_value());
}

fatbin fatbin::shared(std::shared_ptr<contents> contents_of_file, bool is_file_verified,
                      std::shared_ptr<declaration_count> declarations)
{
  contents_of_file->is_verified |= is_file_verified;
  contents_of_file->declarations_of_input = std::move(declarations);
  return fatbin(std::move(contents_of_file));
}

fatbin fatbin::read_unverified(std::filesystem::path const& path)
{
  return fatbin(list_entries(read_fatbin_file(path), path.string()));
}

fatbin fatbin::from_bytes(byte_buffer bytes, std::string name)
{
  return fatbin(parse(std::move(bytes), std::move(name)));
}

std::shared_ptr<fatbin::contents> fatbin::parse(byte_buffer bytes, std::string name)
{
  auto result = list_entries(std::move(bytes), std::move(name));
  result->is_verified = detail::check_entry_digests(result->bytes, result->entries, result->name);
  return result;
}

std::shared_ptr<fatbin::contents> fatbin::list_entries(byte_buffer bytes, std::string name)
{
  auto result = std::make_shared<contents>();
  result->name = std::move(name);
  result->bytes = std::move(bytes);
  result->entries = read_fatbin(result->bytes, result->name);
  return result;
}

std::string const& fatbin::name() const noexcept
{
  return contents_->name;
}
bytes_view fatbin::bytes() const noexcept
{
  return contents_->bytes;
}
digest256 const& fatbin::digest() const
{
  std::call_once(contents_->hashed,
                 [this] { contents_->digest = detail::sha256(contents_->bytes); });
  return contents_->digest;
}
bool fatbin::is_verified() const noexcept
{
  return contents_->is_verified;
}
std::vector<fatbin_entry> const& fatbin::entries() const noexcept
{
  return contents_->entries;
}

std::optional<ident> const& fatbin::ident() const
{
  if (auto const* known = contents_->ident.find({})) return *known;
  std::optional<fatlink::ident> first;
  for (auto const& entry : contents_->entries)
    if (!first) first = entry.ident();
  return *contents_->ident.keep({}, std::move(first)).first;
}

ptx_interface const& fatbin::interface(fatbin_entry const& entry) const
{
  return entry_access::facts_of(*this, entry).interface;
}

detail::entry_facts const& entry_access::facts_of(fatbin const& file, fatbin_entry const& entry)
{
  auto const& contents = *file.contents_;
  if (auto const* known = contents.facts.find(&entry)) return *known;
  auto facts = read_facts(entry, contents.name);
  auto const count = count_declarations(facts.interface);
  contents.add_declarations(entry, count);
  auto const [kept, is_new] = contents.facts.keep(&entry, std::move(facts));
  if (!is_new) contents.remove_declarations(count);
  return *kept;
}

detail::sidecar_ptr const& entry_access::sidecar_of(fatbin const& file)
{
  return file.contents_->sidecar;
}

fatbin_entry const* fatbin::find(entry_kind kind, target link_target) const noexcept
{
  fatbin_entry const* best = nullptr;
  for (auto const& entry : contents_->entries) {
    if (entry.kind != kind || !entry.target.is_known() || !entry.target.links_for(link_target))
      continue;
    if (entry.compression == compression::unknown && kind != entry_kind::ltoir)
      continue;  // nvJitLink decompresses LTO-IR
    if (best == nullptr || best->target < entry.target) best = &entry;
  }
  return best;
}

}  // namespace fatlink
