// SPDX-License-Identifier: Apache-2.0
#include "fatlink/linker.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "detail/format.hpp"
#include "detail/leased_worker.hpp"
#include "detail/link_key.hpp"
#include "detail/link_session.hpp"
#include "linker/inlining.hpp"
#include "linker/mismatched_calls.hpp"
#include "linker/type_witness.hpp"

namespace fatlink {
namespace {

bool has_error(std::vector<finding> const& findings)
{
  return std::any_of(findings.begin(), findings.end(),
                     [](finding const& found) { return found.severity == severity::error; });
}

/// The inputs' own PTX for the target; preflight saw to it that each has some.
std::vector<ptx_part> ptx_of(std::vector<fatbin> const& inputs, target wanted)
{
  std::vector<ptx_part> parts;
  for (auto const& input : inputs)
    if (auto const* entry = linked_entry(input, wanted, link_mode::ptx); entry != nullptr)
      parts.push_back({input.name(), read_ptx(*entry, input.name())});
  return parts;
}

/// Of each input the entry that preflight judged, in a fatbin of its own.
std::vector<detail::link_input> link_inputs(std::vector<fatbin> const& inputs,
                                            link_options const& options)
{
  std::vector<detail::link_input> parts;
  for (auto const& input : inputs)
    parts.push_back(
        detail::link_input::write(input, *linked_entry(input, options.target, options.mode)));
  return parts;
}

detail::link_request make_request(std::vector<detail::link_input> const& inputs,
                                  std::vector<std::string> const& options, image_kind emit)
{
  detail::link_request request{.emit = emit, .options = options, .inputs = {}};
  for (auto const& input : inputs) request.inputs.push_back({input.name(), input.bytes()});
  return request;
}

/// Only once nvJitLink is found is it known what it reads.
void refuse_toolkits(std::vector<fatbin> const& inputs, link_options const& options,
                     toolkit_version linker)
{
  auto findings = preflight(
      inputs,
      {.target = options.target, .mode = options.mode, .kernel = options.kernel, .linker = linker});
  if (has_error(findings)) throw refused_error(options.target, std::move(findings));
}

[[noreturn]] void refuse_emit(link_options const& options)
{
  auto const mode = std::string(to_string(options.mode));
  throw usage_error(
      stage::linker,
      {.message = detail::format("{} cannot be emitted in {} mode", to_string(options.emit), mode),
       .input = to_string(options.emit),
       .code = {},
       .log = {},
       .hint = "PTX is emitted in lto mode; either mode emits a cubin"});
}

/// Milliseconds since it was made, or since the last lap.
class stopwatch {
 public:
  double lap()
  {
    auto const now = clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(start_, now)).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

}  // namespace

struct linker::state {
  std::shared_ptr<nvjitlink const> library;
  isolation where = isolation::in_process;
  std::chrono::milliseconds limit{};
  std::shared_ptr<link_cache> cache;
  std::mutex mutex;  // of the two that are found late: library and file
  std::optional<nvjitlink_file> file;

  /// The nvJitLink that would link; of none, empty.
  nvjitlink_file located()
  {
    std::lock_guard const held(mutex);
    if (library) return {library->path(), library->reason(), library->identity()};
    if (!file) file = nvjitlink::locate();
    return file.value_or(nvjitlink_file{});
  }
  std::shared_ptr<nvjitlink const> opened()
  {
    std::lock_guard const held(mutex);
    if (!library) library = nvjitlink::open();
    return library;
  }
  void forget_file()
  {
    std::lock_guard const held(mutex);
    file.reset();
  }
};

/// One call of link.
class linker::session {
 public:
  session(state& with, std::vector<fatbin> const& inputs, link_options const& options)
      : with_(with), inputs_(inputs), options_(options)
  {
  }

  linked_image link()
  {
    image_.kind = options_.emit;
    image_.target = options_.target;
    image_.mode = options_.mode;
    judge();
    if (options_.emit == image_kind::ptx_set)
      image_.parts = ptx_of(inputs_, options_.target);
    else
      obtain();
    if (!options_.kernel.empty() && has_opaque_input())
      detail::check_kernel(image_, inputs_, options_.kernel);
    detail::state_inlining(image_, inputs_);
    if (options_.require_inlined) detail::check_inlined(image_, inputs_);
    return std::move(image_);
  }

  /// What link() made, as it came from nvJitLink or the cache; not of a ptx_set.
  [[nodiscard]] cached_link const& product() const { return *product_; }
  /// Of the nvJitLink that made it; empty where that is not known.
  [[nodiscard]] std::string const& identity() const { return identity_; }

 private:
  [[nodiscard]] bool has_opaque_input() const
  {
    return std::any_of(inputs_.begin(), inputs_.end(), [&](fatbin const& input) {
      return is_opaque(input, options_.target, options_.mode);
    });
  }

  void judge()
  {
    stopwatch watch;
    auto const findings = preflight(
        inputs_, {.target = options_.target, .mode = options_.mode, .kernel = options_.kernel});
    image_.times.preflight_ms = watch.lap();
    if (has_error(findings)) throw refused_error(options_.target, findings);
    for (auto const& found : findings)
      if (found.id != "compared-by-link")  // see check_calls()
        image_.warnings.push_back(detail::format("{} [{}]", found.message, found.id));
  }

  void obtain()
  {
    stopwatch watch;
    file_ = with_.located();
    identity_ = file_.identity;
    image_.times.find_ms = watch.lap();
    if (with_.cache)
      ask_cache();
    else
      use(link_now());
  }

  void ask_cache()
  {
    stopwatch watch;
    auto const key = link_key(inputs_, options_, file_.identity);
    image_.times.key_ms = watch.lap();
    auto answer = with_.cache->find_or_make(key, [&] { return link_now(); });
    image_.times.lookup_ms = watch.lap() - image_.times.open_ms - image_.link_ms;
    image_.cache = answer.outcome;
    use(std::move(answer.link));
    for (auto& warning : with_.cache->take_warnings())
      image_.warnings.push_back(std::move(warning));
  }

  void use(link_cache::made made)
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

  link_cache::made link_now()
  {
    return with_.where == isolation::worker ? link_apart() : link_here();
  }

  link_cache::made link_apart()
  {
    stopwatch watch;
    detail::leased_worker const worker(file_.path, file_.identity);
    image_.times.open_ms = watch.lap();
    refuse_toolkits(inputs_, options_, {worker->hello().major, worker->hello().minor});
    return made_by(worker->hello().identity,
                   link_with([&](auto const& inputs, auto const& texts, image_kind emit) {
                     return worker->link(make_request(inputs, texts, emit), with_.limit);
                   }));
  }

  link_cache::made link_here()
  {
    stopwatch watch;
    auto const library = with_.opened();
    image_.times.open_ms = watch.lap();
    refuse_toolkits(inputs_, options_, {library->major(), library->minor()});
    return made_by(library->identity(),
                   link_with([&](auto const& inputs, auto const& texts, image_kind emit) {
                     return detail::link_unchecked(*library, inputs, texts, emit);
                   }));
  }

  /// Checks by links what preflight could not read, and links.
  detail::link_product link_with(detail::link_function const& link)
  {
    auto findings = detail::check_opaque_types(inputs_, options_, link);
    if (findings.empty()) findings = detail::check_calls(inputs_, options_, link);
    if (has_error(findings)) throw refused_error(options_.target, std::move(findings));
    return link(link_inputs(inputs_, options_), detail::nvjitlink_options(inputs_, options_),
                options_.emit);
  }

  /// Not kept where another nvJitLink than the key's linked: it was replaced meanwhile.
  link_cache::made made_by(std::string const& identity, detail::link_product product)
  {
    image_.link_ms = product.ms;
    auto const is_as_keyed = !identity.empty() && identity == file_.identity;
    identity_ = identity;
    if (!is_as_keyed) {
      with_.forget_file();
      if (with_.cache)
        product.warnings.push_back(detail::format(
            "the cache does not keep this link: another nvJitLink made it than {}", file_.path));
    }
    return {{std::move(product.bytes), std::move(product.warnings)}, is_as_keyed};
  }

  state& with_;
  std::vector<fatbin> const& inputs_;
  link_options const& options_;
  nvjitlink_file file_;
  std::string identity_;
  std::shared_ptr<cached_link const> product_;
  linked_image image_;
};

linker::linker() : state_(std::make_shared<state>()) {}

linker::linker(std::shared_ptr<nvjitlink const> library) : linker()
{
  state_->library = std::move(library);
}

linker::linker(isolation where, std::chrono::milliseconds limit) : linker()
{
  state_->where = where;
  state_->limit = limit;
}

linker& linker::use(std::shared_ptr<link_cache> cache)
{
  state_->cache = std::move(cache);
  return *this;
}

linked_image linker::link(std::vector<fatbin> const& inputs, link_options const& options)
{
  if (options.emit == (options.mode == link_mode::ptx ? image_kind::ptx : image_kind::ptx_set))
    refuse_emit(options);
  return session(*state_, inputs, options).link();
}

linked_image linker::link_into(std::filesystem::path const& layer,
                               std::vector<fatbin> const& inputs, link_options const& options)
{
  if (options.emit != image_kind::cubin &&
      (options.emit != image_kind::ptx || options.mode == link_mode::ptx))
    refuse_emit(options);
  session linking(*state_, inputs, options);
  auto image = linking.link();
  for (auto const& identity : {linking.identity(), std::string()})
    write_layer_entry(layer, link_key(inputs, options, identity), linking.product());
  return image;
}

}  // namespace fatlink
