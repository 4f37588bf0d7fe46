// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_with_headers.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
namespace {

constexpr int k_most_rounds = 64;  ///< of records

bool has_succeeded(std::vector<compile_product> const& products)
{
  return products.back().code.empty();
}

/// Returns why the headers cannot be unpacked; empty on success.
std::string unpack(cache::unpacked_headers const& headers, compiler_helpers& helpers)
try {
  auto const turn = headers.make_folder();
  if (headers.are_complete()) return {};  // another process unpacked them meanwhile
  helpers.unpack_headers(headers.path().string());
  headers.record();
  return {};
} catch (cache::folder_error const& failure) {
  return failure.message;
} catch (file_error const& failure) {
  return failure.details().message;
} catch (unavailable_error const& failure) {
  auto const& log = failure.details().log;  // NVRTC's: "nvrtc: error: failed to …"
  return failure.details().message + (log.empty() ? "" : ": ") + log.substr(0, log.find('\n'));
}

std::vector<compile_product> compile_once(header_compile const& work, header_files& files)
{
  auto const is_simple = files.includes_standard_only(work.code) &&
                         std::ranges::all_of(files.memory(), [&](auto const& header) {
                           return files.includes_standard_only(header.second);
                         });
  if (is_simple) {
    auto products = work.compile(work.make_program(true));
    if (has_succeeded(products) && !files.has_read_others()) return products;
  }
  return work.compile(work.make_program(false));
}

/// The records of earlier compiles, and the key that they lead to.
class record_trail {
 public:
  record_trail(cache_key base, header_files& files, link_cache& cache)
      : base_(std::move(base)), key_(base_), files_(files), cache_(cache)
  {
  }

  /// Goes on as far as there are records. Returns whether there was one.
  bool follow()
  {
    auto const known = paths_.size();
    for (int rounds = 0; rounds < k_most_rounds; ++rounds) {
      auto const record = cache_.find(record_key(key_));
      if (!record) break;
      auto const paths = decode_record(*record);
      paths_.insert(paths.begin(), paths.end());
      key_ = key_of(paths_);
    }
    files_.add_to_record(paths_);
    return paths_.size() != known;
  }
  /// The paths that the compile looked up and that no record has.
  [[nodiscard]] std::set<std::string> new_paths() const
  {
    std::set<std::string> paths;
    std::ranges::set_difference(files_.record(), paths_, std::inserter(paths, paths.end()));
    return paths;
  }
  /// The key in the present state of the files.
  [[nodiscard]] cache_key present_key() const { return key_of(paths_); }
  [[nodiscard]] cache_key const& key() const noexcept { return key_; }
  [[nodiscard]] cache_key key_of(std::set<std::string> const& paths) const
  {
    return paths.empty() ? base_ : key_with_state(base_, files_.state_of(paths));
  }

 private:
  cache_key base_;
  cache_key key_;
  std::set<std::string> paths_;
  header_files& files_;
  link_cache& cache_;
};

}  // namespace

std::vector<compile_product> compile_with_headers(header_compile const& work, header_files& files,
                                                  cuda_headers const& places,
                                                  compiler_helpers& helpers,
                                                  std::string& headers_error)
{
  auto products = compile_once(work, files);
  if (!files.has_missing() || !headers_error.empty() || !places.must_unpack()) return products;
  headers_error = unpack(places.unpacked(), helpers);
  files.set_cuda_folders(headers_error.empty() ? places.folders() : places.installed_folders());
  return compile_once(work, files);
}

cache_key record_key(cache_key key)
{
  return key.add("result", "headers");
}

cache_key key_with_state(cache_key key, std::string const& state)
{
  return key.add("headers", digest_of(state));
}

std::set<std::string> shipped_part(std::set<std::string> record)
{
  std::erase_if(record, [](std::string const& path) { return path.starts_with("/@cuda"); });
  return record;
}

cached_link encode_record(std::set<std::string> const& paths)
{
  std::string text;
  for (auto const& path : paths) text += path + '\n';
  auto const bytes = std::as_bytes(std::span(text));
  return {.bytes = {bytes.begin(), bytes.end()}};
}

std::set<std::string> decode_record(cached_link const& record)
{
  std::set<std::string> paths;
  std::string_view text(reinterpret_cast<char const*>(record.bytes.data()), record.bytes.size());
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    paths.emplace_hint(paths.end(), text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return paths;
}

link_cache::result find_or_compile(cache_key const& key, header_files& files, link_cache& cache,
                                   compiler_helpers& helpers,
                                   std::function<cached_link()> const& make)
{
  record_trail trail(key, files, cache);
  (void)trail.follow();
  std::shared_ptr<cached_link const> found;
  auto const store = [&](cache_key const& stored, cached_link const& link) {
    (void)helpers.find_or_make(stored, [&] { return link_cache::product{.link = link}; });
  };
  auto result = helpers.find_or_make(trail.key(), [&] {
    // Another process may have compiled it meanwhile.
    if (trail.follow() && (found = cache.find(trail.key())))
      return link_cache::product{.link = *found, .keep = false};
    auto link = make();
    helpers.release();  // a thread that holds a key below may wait for a helper
    auto const present = trail.present_key();
    auto const added = trail.new_paths();
    if (added.empty() && present.parts() == trail.key().parts())
      return link_cache::product{.link = std::move(link)};
    if (!added.empty()) store(record_key(present), encode_record(added));
    store(trail.key_of(files.record()), link);
    return link_cache::product{.link = std::move(link), .keep = false};
  });
  if (found) result.outcome = cache_outcome::hit;
  return result;
}

namespace {

/// Increased whenever fatlink itself would compile the same source differently.
constexpr char const* k_compile_format = "5";

}  // namespace

std::string digest_of(std::string_view text)
{
  return to_hexadecimal(sha256(std::as_bytes(std::span(text))));
}

void add_program(cache_key& key, program const& subject,
                 std::map<std::string, std::string> const& headers)
{
  key.add("name", subject.name);
  key.add("source", digest_of(subject.source));
  for (auto const& library : subject.headers)
    key.add("library", library.name + ' ' + digest_of(library.text));
  for (auto const& [name, text] : headers) key.add("header", name + ' ' + digest_of(text));
  for (auto const& call : subject.compiles)
    for (auto const& option : call.options) key.add("option", option);
}

cache_key compile_key(program const& subject, std::map<std::string, std::string> const& headers,
                      compile_options const& options, compile_conditions const& conditions)
{
  cache_key key;
  key.add("compile", k_compile_format);
  add_program(key, subject, headers);
  for (auto const architecture : options.sass) key.add("sass", architecture.name());
  if (auto const* contract = conditions.contract) {
    key.add("contract", contract->title());
    key.add("package", contract->package);
    for (auto const& hook : contract->hooks) key.add("hook", hook);
  }
  if (!conditions.nvrtc.empty()) key.add("nvrtc", conditions.nvrtc);
  if (conditions.has_folder) key.add("folder", "searched");
  key.add("compiler", conditions.compiler);
  // Never served to a compiler that requires the sandbox.
  if (conditions.allow_unconfined) key.add("sandbox", "not required");
  return key;
}

}  // namespace fatlink::detail
