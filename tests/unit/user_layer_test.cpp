// SPDX-License-Identifier: Apache-2.0
// What else may be where an entry, the lock or the ledger belongs: it is replaced or computed anew,
// never followed or waited for, and never a reason for a warning.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>

#include "cache/ledger.hpp"
#include "cache_fixture.hpp"

using namespace fatlink;
using fixtures::ask;
using fixtures::to_bytes;
using testing::IsEmpty;
namespace fs = std::filesystem;

namespace {

void make_socket(fs::path const& name)
{
  auto const socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.string().copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
}

struct obstacle {
  char const* name;
  std::function<void(fs::path const& place, fs::path const& outside)> make;
};

/// `outside` is a file of the user's that must stay as it is.
std::vector<obstacle> obstacles()
{
  std::vector<obstacle> all{
      {"empty folder", [](fs::path const& place, fs::path const&) { create_directory(place); }},
      {"folder with a file",
       [](fs::path const& place, fs::path const&) {
         create_directory(place);
         std::ofstream(place / "kept") << "mine";
       }},
      {"dangling link",
       [](fs::path const& place, fs::path const& outside) {
         create_symlink(outside.string() + "x", place);
       }},
      {"link to a file",
       [](fs::path const& place, fs::path const& outside) { create_symlink(outside, place); }},
      {"link to a folder",
       [](fs::path const& place, fs::path const& outside) {
         create_directory_symlink(outside.parent_path(), place);
       }},
      {"loop",
       [](fs::path const& place, fs::path const&) { create_symlink(place.filename(), place); }},
      {"hard link",
       [](fs::path const& place, fs::path const& outside) { create_hard_link(outside, place); }},
      {"FIFO",
       [](fs::path const& place, fs::path const&) { EXPECT_EQ(::mkfifo(place.c_str(), 0600), 0); }},
      {"socket", [](fs::path const& place, fs::path const&) { make_socket(place); }},
      {"damaged file",
       [](fs::path const& place, fs::path const&) { std::ofstream(place) << "nonsense"; }},
      {"empty file", [](fs::path const& place, fs::path const&) { std::ofstream(place).close(); }},
      {"oversized file", [](fs::path const& place, fs::path const&) {
         std::ofstream(place) << std::string(100'000, 'x');
       }}};
  if (::geteuid() == 0)
    all.push_back({"device", [](fs::path const& place, fs::path const&) {
                     (void)::mknod(place.c_str(), S_IFCHR | 0600, makedev(1, 7));  // /dev/full
                   }});
  return all;
}

class CacheRepair : public fixtures::cache_test {
 protected:
  [[nodiscard]] fs::path outside() const { return folder_.path() / "outside" / "file"; }

  void SetUp() override
  {
    create_directory(outside().parent_path());
    write(outside(), to_bytes("the user's"));
  }

  /// With each obstacle at `place`: the next link is kept, and the one after it is served.
  void expect_repaired(fs::path const& place, bool is_entry = false)
  {
    for (auto const& [name, make] : obstacles()) {
      std::filesystem::remove_all(root());
      if (link_cache cache(settings()); true) ask(cache, "a");
      std::filesystem::remove(place);
      make(place, outside());
      auto const* const next = is_entry ? "a" : "b";
      for (auto const expected : {cache_outcome::miss, cache_outcome::hit}) {
        link_cache cache(settings());
        EXPECT_EQ(ask(cache, next), expected) << name;
        EXPECT_THAT(cache.take_warnings(), IsEmpty()) << name;
      }
      EXPECT_TRUE(is_regular_file(std::filesystem::symlink_status(place))) << name;
      auto const found = link_cache(settings()).statistics();
      EXPECT_EQ(found.faults, 0U) << name << ": " << found.last_fault;
      EXPECT_EQ(found.entries, is_entry ? 1U : 2U) << name;
      EXPECT_EQ(std::filesystem::file_size(outside()), 10U) << name << ": followed";
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside().parent_path()), {}), 1);
    }
  }
};

}  // namespace

TEST_F(CacheRepair, ReplacesWhatIsInTheLedgersPlace)
{
  expect_repaired(root() / "ledger");
}

TEST_F(CacheRepair, ReplacesWhatIsInTheLocksPlace)
{
  expect_repaired(root() / "lock");
}

TEST_F(CacheRepair, ReplacesWhatIsInAnEntrysPlace)
{
  expect_repaired(entry_of("a"), true);
}

TEST_F(CacheRepair, KeepsTheFilesOfAFolderThatWasInTheWay)
{
  if (link_cache cache(settings()); true) ask(cache, "a");
  std::filesystem::remove(entry_of("a"));
  create_directory(entry_of("a"));
  std::ofstream(entry_of("a") / "kept") << "mine";
  if (link_cache cache(settings()); true) ask(cache, "a");
  auto kept = 0;
  for (auto const& file : std::filesystem::recursive_directory_iterator(root()))
    kept += file.path().filename() == "kept" ? 1 : 0;
  EXPECT_EQ(kept, 1);
}

TEST_F(CacheRepair, RecountsWhereTheLedgerStatesMoreBytesThanThereCanBe)
{
  if (link_cache cache(settings()); true) ask(cache, "a");
  auto const limit = 4 * std::filesystem::file_size(entry_of("a"));
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  cache::write_ledger(*in, {.counted = true, .bytes = ~std::uint64_t{0}, .last_fault = {}});
  link_cache cache(settings(limit));
  for (auto const* text : {"b", "c", "d", "e"}) ask(cache, text);
  EXPECT_LE(cache.statistics().bytes, limit);
  EXPECT_GT(cache.statistics().evicted, 0U);
}

TEST_F(CacheRepair, EvictsEntriesFromTheFutureInTheirTurn)
{
  if (link_cache cache(settings()); true) ask(cache, "future");
  auto const size = std::filesystem::file_size(entry_of("future"));
  auto const years = std::chrono::hours(24 * 365 * 10);
  last_write_time(entry_of("future"), std::filesystem::file_time_type::clock::now() + years);
  (void)link_cache(settings()).prune();  // counts, and sees the time
  link_cache cache(settings(6 * size));
  for (auto const* text : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) ask(cache, text);
  EXPECT_FALSE(std::filesystem::exists(entry_of("future")));
  EXPECT_TRUE(std::filesystem::exists(entry_of("i")));
}

TEST_F(CacheRepair, PrunesWhatIsNoFileInTheEntriesPlaces)
{
  if (link_cache cache(settings()); true) ask(cache, "a");
  create_symlink(outside(), entry_of("b"));
  EXPECT_EQ(::mkfifo(entry_of("c").c_str(), 0600), 0);
  create_directory(entry_of("d"));
  (void)link_cache(settings()).prune();
  for (auto const* text : {"b", "c", "d"})
    EXPECT_FALSE(is_symlink(entry_of(text)) || exists(entry_of(text))) << text;
  EXPECT_TRUE(exists(entry_of("a")));
  EXPECT_TRUE(exists(outside()));
}
