// SPDX-License-Identifier: Apache-2.0
// The list of a device's textures and surfaces, as launches see it.
#include "interpreter/execution/textures.hpp"

#include <gtest/gtest.h>

namespace fatlink::interpreter {

TEST(TextureRegistry, LaunchesShareTheListUntilItChanges)
{
  texture_registry registry;
  auto const first = registry.add_surface({});
  auto const before = registry.snapshot();
  EXPECT_EQ(registry.snapshot(), before);
  registry.remove(first + k_object_stride);  // no such object
  EXPECT_EQ(registry.snapshot(), before);
  auto const second = registry.add_texture({}, {});
  EXPECT_NE(registry.snapshot(), before);
  EXPECT_NE(find_object(*registry.snapshot(), second), nullptr);
}

TEST(TextureRegistry, ASnapshotKeepsWhatIsRemovedLater)
{
  texture_registry registry;
  auto const first = registry.add_surface({});
  auto const second = registry.add_texture({}, {});
  auto const before = registry.snapshot();
  registry.remove(first);
  EXPECT_NE(find_object(*before, first), nullptr);
  EXPECT_EQ(find_object(*registry.snapshot(), first), nullptr);
  EXPECT_EQ(find_object(*registry.snapshot(), second)->handle, second);
}

TEST(TextureRegistry, HandlesAreNotUsedAgain)
{
  texture_registry registry;
  auto const first = registry.add_surface({});
  registry.remove(first);
  auto const second = registry.add_surface({});
  EXPECT_NE(second, first);
  EXPECT_EQ(classify_handle(*registry.snapshot(), first), unknown_handle::destroyed);
  EXPECT_EQ(classify_handle(*registry.snapshot(), second + k_object_stride),
            unknown_handle::foreign);
}

}  // namespace fatlink::interpreter
