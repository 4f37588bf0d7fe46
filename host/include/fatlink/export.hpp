// SPDX-License-Identifier: Apache-2.0
// What libfatlink.so exports: what a public header declares in `namespace FATLINK_API fatlink`, and
// nothing else; all is compiled with hidden visibility. tests/package/test_exports.py checks it.
#pragma once

#define FATLINK_API [[gnu::visibility("default")]]
/// Declared in a public header, and known to the library alone.
#define FATLINK_PRIVATE [[gnu::visibility("hidden")]]
