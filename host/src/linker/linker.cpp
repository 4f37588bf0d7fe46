// SPDX-License-Identifier: Apache-2.0
#include "fatlink/linker.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/offline.hpp"
#include "cache/record.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/ident.hpp"
#include "fatbin/write_fatbin.hpp"
#include "input/bare_entries.hpp"
#include "linker/check_arguments.hpp"
#include "linker/check_opaque_inputs.hpp"
#include "linker/image_functions.hpp"
#include "linker/link_options.hpp"
#include "linker/link_record.hpp"
#include "linker/run_nvjitlink.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "util/process/cancel_check.hpp"
#include "util/process/stopwatch.hpp"
#include "util/process/tool_range.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace detail {
namespace {

// The errors of offline mode: what is missing, and the command that adds it to a layer.

std::string join(std::vector<std::string> const& words)
{
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string input_names(std::vector<fatbin> const& inputs)
{
  std::vector<std::string> names;
  for (auto const& input : inputs) names.push_back(printable_line(input.name()));
  return join(names);
}

char const* kind_suffix(image_kind emit)
{
  switch (emit) {
    case image_kind::ptx:
      return " (PTX)";
    case image_kind::ltoir:
      return " (LTO-IR)";
    case image_kind::relocatable:
      return " (relocatable)";
    default:
      return "";
  }
}

bool has_link(link_cache& cache, std::vector<fatbin> const& inputs, link_options const& options)
try {
  check_link_options(options);
  return cache.find(link_key(inputs, options, "")) != nullptr;
} catch (usage_error const&) {
  return false;  // this mode has no such link
}

/// "; the layers have it for sm_80", in ascending order; empty if they have it for nothing else.
std::string describe_others(link_cache& cache, std::vector<fatbin> const& inputs,
                            link_options const& options)
{
  std::vector<std::string> found;
  auto other = options;
  for (auto const& target : known_targets()) {
    other.target = target;
    if (has_link(cache, inputs, other)) found.push_back("for " + target.name());
  }
  other.target = options.target;
  for (auto const mode : {link_mode::lto, link_mode::ptx, link_mode::sass}) {
    other.mode = mode;
    if (mode != options.mode && options.emit == image_kind::cubin && has_link(cache, inputs, other))
      found.push_back(detail::format("in {} mode", to_string(mode)));
  }
  return found.empty() ? "" : detail::format(" (the layers have it {})", join(found));
}

/// Whether options are set that have no place in the command.
bool has_other_options(link_options options)
{
  options.kernels.clear();
  options.require_inlined = false;
  options.driver_cache = true;
  return std::ranges::any_of(option_effects(),
                             [&](option_effect const& effect) { return effect.is_set(options); });
}

/// Without names, the command would keep only the kernels of a launch plan, if there is one.
std::string kernel_words(std::vector<fatbin> const& inputs, link_options const& options)
{
  std::string words;
  for (auto const& kernel : options.kernels) words += " --kernel " + shell_word(kernel);
  auto const sidecar = std::filesystem::path(inputs.front().name()).replace_extension(".json");
  std::error_code ignored;
  if (words.empty() && std::filesystem::exists(sidecar, ignored)) words = " --all-kernels";
  return words;
}

/// The fatlink cache warm command that makes this link; empty if there is none.
std::string warm_command(std::vector<fatbin> const& inputs, link_options const& options)
{
  if (has_other_options(options)) return {};
  auto command =
      detail::format("fatlink cache warm --target {} --mode {} --emit {} --layer FOLDER",
                     options.target.name(), to_string(options.mode), to_string(options.emit));
  command += kernel_words(inputs, options);
  for (auto const& input : inputs) {
    auto const file = file_of(input);
    if (file.empty()) return {};
    command += ' ' + shell_word(file);
  }
  return command;
}

/// In offline mode, a link that no layer has. The message names the targets and modes for which the
/// layers have a link of the same inputs and options. `cache`: may be null.
/// @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_link_offline(std::shared_ptr<link_cache> const& cache,
                                      std::vector<fatbin> const& inputs,
                                      link_options const& options)
{
  auto const subject =
      detail::format("the {} link of {} for {}{}", to_string(options.mode), input_names(inputs),
                     options.target.name(), kind_suffix(options.emit));
  auto const& library = inputs.front().name();
  if (options.emit != image_kind::cubin && options.emit != image_kind::ptx)
    cache::refuse_offline(
        stage::linker, "no cache layer can have " + subject, library,
        "link it before, on a machine with nvJitLink, and pass the fatbin as an input");
  auto const has_layers = cache && !cache->settings().layers.empty();
  auto const others = has_layers ? describe_others(*cache, inputs, options) : "";
  auto hint = cache::describe_layer(warm_command(inputs, options));
  if (!cache) hint = "<set linker_settings::cache>; " + hint;
  cache::refuse_offline(stage::linker,
                        detail::format("{} {}{}", cache::describe_miss(cache), subject, others),
                        library, std::move(hint));
}

/// In offline mode, a check by links. @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_check_offline(std::vector<fatbin> const& inputs)
{
  cache::refuse_offline(
      stage::linker, detail::format("the links that check {} need nvJitLink", input_names(inputs)),
      inputs.front().name(), "check it without links: <preflight>");
}

}  // namespace
}  // namespace detail

namespace {

/// The inputs' PTX for the target; preflight checked that each has some.
std::vector<ptx_part> ptx_of(std::vector<fatbin> const& inputs, target architecture)
{
  std::vector<ptx_part> parts;
  for (auto const& input : inputs)
    if (auto const* entry = linked_entry(input, {architecture, link_mode::ptx}); entry != nullptr)
      parts.push_back({input.name(), read_ptx(*entry, input.name())});
  return parts;
}

/// Whether one of `names` is linked as SASS, of which damage would go unnoticed.
bool is_linked_as_sass(std::vector<std::string> const& names, std::vector<fatbin> const& inputs,
                       link_options const& options)
{
  std::set<std::string_view> const named(names.begin(), names.end());
  return std::any_of(inputs.begin(), inputs.end(), [&](fatbin const& input) {
    if (!named.contains(input.name())) return false;
    auto const* entry = linked_entry(input, detail::choice_of(options));
    return entry != nullptr && entry->kind == entry_kind::elf;
  });
}

void warn_of_unused_archives(std::vector<input> const& inputs, std::vector<fatbin> const& modules,
                             linked_image& image)
{
  for (auto const& warning : detail::unused_archives(inputs, modules))
    image.warnings.push_back(detail::describe_warning(warning));
}

/// Whether a link passes on a warning of preflight. Not compared-by-link, because check_calls()
/// compares the types; unverified-bytes only of SASS, because nvJitLink notices damage of PTX and
/// LTO-IR.
bool is_repeated_by_link(finding const& warning, std::vector<fatbin> const& inputs,
                         link_options const& options)
{
  if (warning.id == finding_id::unverified_bytes)
    return is_linked_as_sass(warning.files, inputs, options);
  return warning.id != finding_id::compared_by_link;
}

constexpr char const* k_partial_image = "linked image";

/// What the inputs state about their contract.
ident merged_ident(std::vector<fatbin> const& inputs)
{
  ident merged{.producer = "nvJitLink"};
  auto const stated = std::ranges::find_if(
      inputs, [](fatbin const& input) { return detail::states_contract(input.ident()); });
  if (stated == inputs.end()) return merged;
  auto const& contract = *stated->ident();
  merged.contract = contract.contract;
  merged.version = contract.version;
  merged.header_sha256 = contract.header_sha256;
  merged.contract_package = contract.contract_package;
  merged.hooks = contract.hooks;
  merged.includes = contract.includes;
  return merged;
}

/// "link reduce_4.fatbin + add_float.fatbin".
std::string range_name(std::vector<fatbin> const& inputs)
{
  std::string names;
  for (auto const& input : inputs)
    names += (names.empty() ? "" : " + ") + std::filesystem::path(input.name()).filename().string();
  return "link " + names;
}

/// A fatbin of `image`, the LTO-IR or relocatable cubin that nvJitLink made of `inputs`, for the
/// target of `options`: with digests, the float flags of the link, and the contract that the inputs
/// state, which preflight has compared.
/// @throws format_error `image` is not what `options` ask for.
byte_buffer write_partial_image(bytes_view image, std::vector<fatbin> const& inputs,
                                link_options const& options)
{
  auto ident = merged_ident(inputs);
  fatbin_entry entry{.kind = entry_kind::elf,
                     .version_major = 1,
                     .version_minor = 8,
                     .payload = image,
                     .uncompressed_size = image.size()};
  if (options.emit == image_kind::ltoir) {
    entry = detail::ltoir_entry(image, detail::read_ltoir_header(image, k_partial_image));
    ident.float_flags = to_string(detail::linked_float_flags(inputs, options));
    entry.options = ident.float_flags;
    entry.stored_options = std::as_bytes(std::span(entry.options));
  }
  entry.target = options.target;
  entry.flags = detail::flags_of(options.target);
  entry.ident_text = detail::encode_ident(ident);
  return detail::add_digests(detail::write_fatbin(std::span<fatbin_entry const>(&entry, 1)),
                             k_partial_image);
}

}  // namespace

struct linker::state : detail::linker_state {
  using detail::linker_state::linker_state;
};

/// One call of linker::link, or of linker::link_into, whose links are not those that a package
/// ships.
class linker::session {
 public:
  session(detail::linker_state& linker, std::vector<fatbin> const& inputs,
          link_options const& options, bool may_use_shipped)
      : state_(linker),
        inputs_(inputs),
        options_(options),
        may_use_shipped_(may_use_shipped && linker.may_use_shipped())
  {
  }

  linked_image link()
  {
    detail::tool_range const range([&] { return range_name(inputs_); });
    image_.kind = options_.emit;
    image_.target = options_.target;
    image_.mode = options_.mode;
    check_inputs();
    if (options_.emit == image_kind::ptx_set)
      image_.parts = ptx_of(inputs_, options_.target);
    else
      link_or_fetch();
    auto choice = detail::choice_of(options_);
    choice.target = image_.target;
    if (options_.emit != image_kind::ltoir) detail::record_inlining(image_, inputs_, choice);
    if (options_.require_inlined) detail::check_inlined(image_, inputs_);
    if (cache::is_recording()) cache::append_record(detail::record_link(inputs_, options_));
    if (detail::is_partial(options_))
      image_.bytes = write_partial_image(image_.bytes, inputs_, options_);
    return std::move(image_);
  }

  /// The result of link(), as nvJitLink or the cache returned it. Not for a ptx_set.
  [[nodiscard]] cached_link const& product() const { return *product_; }
  /// The identity of the nvJitLink that made it; empty: unknown.
  [[nodiscard]] std::string const& identity() const { return identity_; }

 private:
  void check_inputs()
  {
    detail::stopwatch watch;
    auto const findings = preflight(inputs_, detail::request_of(options_));
    image_.times.preflight_ms = watch.lap();
    if (detail::has_error(findings)) throw refused_error(options_.target, findings);
    for (auto const& finding : findings)
      if (is_repeated_by_link(finding, inputs_, options_))
        image_.warnings.push_back(detail::describe_warning(finding));
  }

  void link_or_fetch()
  {
    if (may_use_shipped_ && fetch_shipped()) return;
    if (state_.is_offline()) detail::refuse_link_offline(state_.settings.cache, inputs_, options_);
    detail::stopwatch watch;
    file_ = state_.locate_nvjitlink();
    identity_ = file_.identity;
    image_.times.find_ms = watch.lap();
    if (state_.settings.cache)
      fetch_or_link();
    else
      use(link_now());
  }

  /// Looks for a link that a package ships: for the target, or as a cubin for an older one that
  /// runs there. Returns whether there is one.
  bool fetch_shipped()
  {
    detail::stopwatch watch;
    for (auto const& architecture : shipped_targets()) {
      auto options = options_;
      options.target = architecture;
      auto const key = link_key(inputs_, options, "");
      image_.times.key_ms += watch.lap();
      auto shipped = state_.settings.cache->find_shipped(key);
      image_.times.lookup_ms += watch.lap();
      if (!shipped) continue;
      image_.target = architecture;
      image_.cache = cache_outcome::hit;
      use(std::move(shipped));
      add_cache_warnings();
      return true;
    }
    return false;
  }

  [[nodiscard]] std::vector<target> shipped_targets() const
  {
    if (options_.emit == image_kind::cubin) return options_.target.compatible_targets();
    return {options_.target};
  }

  void add_cache_warnings()
  {
    for (auto& warning : state_.settings.cache->take_warnings())
      image_.warnings.push_back(std::move(warning));
  }

  void fetch_or_link()
  {
    detail::stopwatch watch;
    auto const confined = link_key(inputs_, options_, file_.identity);
    auto key = confined;
    if (!state_.is_confined()) key.add("confined", "no");
    image_.times.key_ms += watch.lap();
    auto answer = state_.settings.cache->find_or_make(
        key, [&] { return link_now(); }, state_.is_confined() ? nullptr : &confined);
    image_.times.lookup_ms += watch.lap() - image_.times.open_ms - image_.link_ms;
    image_.cache = answer.outcome;
    use(std::move(answer.link));
    add_cache_warnings();
  }

  void use(link_cache::product made)
  {
    use(std::make_shared<cached_link const>(std::move(made.link)));
  }
  void use(std::shared_ptr<cached_link const> product)
  {
    product_ = std::move(product);
    image_.bytes = product_->bytes;
    image_.warnings.insert(image_.warnings.end(), product_->warnings.begin(),
                           product_->warnings.end());
  }

  /// It is not stored if this throws, so links from the cache are not checked again: their key
  /// names what was asked for, and their digest detects damage. An entry that was forged, with its
  /// digest, could hold any code under the right names; and a cache never makes a link fail.
  /// @throws file_error the product is not an image, or one that no GPU loads.
  /// @throws refused_error it lacks a kernel or variable that was asked for.
  void check_product(bytes_view bytes) const
  {
    if (options_.emit == image_kind::cubin) detail::check_executable(bytes);
    if (options_.emit == image_kind::cubin || options_.emit == image_kind::relocatable)
      (void)detail::functions_in_cubin(bytes);
    detail::check_kept(bytes, inputs_, options_);
  }

  /// Links. The product is not stored if nvJitLink was replaced after the key was made.
  link_cache::product link_now()
  {
    detail::tool_range const range("nvJitLink");
    auto result = detail::run_nvjitlink(state_, inputs_, options_, file_);
    image_.times.open_ms = result.open_ms;
    image_.link_ms = result.product.ms;
    image_.warnings.insert(image_.warnings.end(), result.warnings.begin(), result.warnings.end());
    check_product(result.product.bytes);
    auto const is_as_keyed = !result.identity.empty() && result.identity == file_.identity;
    identity_ = std::move(result.identity);
    if (!is_as_keyed) {
      state_.forget_file();
      if (state_.settings.cache)
        result.product.warnings.push_back(detail::format(
            "the cache does not store this link, because an nvJitLink other than {} made it",
            file_.path));
    }
    return {{std::move(result.product.bytes), std::move(result.product.warnings)}, is_as_keyed};
  }

  detail::linker_state& state_;
  std::vector<fatbin> const& inputs_;
  link_options const& options_;
  bool may_use_shipped_;
  nvjitlink_file file_;
  std::string identity_;
  std::shared_ptr<cached_link const> product_;
  linked_image image_;
};

linker::linker(linker_settings settings)
{
  detail::check_settings(settings);
  state_ = std::make_shared<state>(std::move(settings));
}

linker_settings const& linker::settings() const
{
  if (!state_) detail::refuse_moved_linker();
  return state_->settings;
}

linked_image linker::link(std::vector<input> const& inputs, link_options const& options)
{
  if (!state_) detail::refuse_moved_linker();
  detail::check_arguments(inputs, options);
  auto const modules = select_modules(inputs, detail::request_of(options));
  auto image = link(modules, options);
  warn_of_unused_archives(inputs, modules, image);
  return image;
}

linked_image linker::link(std::span<fatbin const> inputs, link_options const& options)
{
  detail::cancellation_guard const guard;
  if (!state_) detail::refuse_moved_linker();
  detail::check_arguments(inputs, options);
  if (options.emit == image_kind::ptx_set) detail::check_reference_device(inputs);
  std::vector const modules(inputs.begin(), inputs.end());
  return session(*state_, modules, options, true).link();
}

std::vector<finding> linker::check(std::span<fatbin const> inputs, link_options const& options)
{
  detail::cancellation_guard const guard;
  if (!state_) detail::refuse_moved_linker();
  detail::check_arguments(inputs, options);
  std::vector const modules(inputs.begin(), inputs.end());
  if (state_->is_offline()) detail::refuse_check_offline(modules);
  auto const findings = preflight(modules, detail::request_of(options));
  if (detail::has_error(findings)) throw refused_error(options.target, findings);
  return detail::check_with_nvjitlink(*state_, modules, options, state_->locate_nvjitlink());
}

linked_image linker::link_into(std::filesystem::path const& layer, std::vector<input> const& inputs,
                               link_options const& options, layer_hosts hosts)
{
  if (!state_) detail::refuse_moved_linker();
  detail::check_arguments(inputs, options);
  detail::check_layer_image(options);
  auto const modules = select_modules(inputs, detail::request_of(options));
  auto image = link_into(layer, modules, options, hosts);
  warn_of_unused_archives(inputs, modules, image);
  return image;
}

linked_image linker::link_into(std::filesystem::path const& layer, std::span<fatbin const> inputs,
                               link_options const& options, layer_hosts hosts)
{
  detail::cancellation_guard const guard;
  if (!state_) detail::refuse_moved_linker();
  detail::check_arguments(inputs, options);
  detail::check_layer_image(options);
  cache::refuse_layer_offline(stage::linker, state_->is_offline());
  std::vector const modules(inputs.begin(), inputs.end());
  session linking(*state_, modules, options, false);
  auto image = linking.link();
  write_layer_entry(layer, link_key(modules, options, ""), linking.product());
  if (hosts == layer_hosts::all)
    write_layer_entry(layer, link_key(modules, options, linking.identity()), linking.product());
  return image;
}

}  // namespace fatlink
