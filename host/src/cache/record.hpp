// SPDX-License-Identifier: Apache-2.0
// The record of links and compiles that $FATLINK_RECORD names: one JSON object on each line, in the
// order in which they succeeded. linker/link_record.hpp and compiler/compile_record.hpp write and
// read the objects. Several threads and processes may append to one file. Threads: safe.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"

namespace fatlink::cache {

/// The variable that names the file.
constexpr char const* k_record_variable = "FATLINK_RECORD";

/// Whether the variable is set.
bool is_recording();

/// Appends `entry`, unless this process appended an equal one before.
/// @throws file_error the file cannot be written.
void append_record(nlohmann::json const& entry);

/// The entries of a file, without duplicates, in their order.
/// @throws file_error the file cannot be read, or (invalid_record) a line is not an object.
std::vector<nlohmann::json> read_record(std::filesystem::path const& file);

/// Remembers the digest of a compiled fatbin, as hexadecimal text: a link of it records the digest
/// only, because the record has the compile.
void note_compiled(std::string const& digest);
/// Whether note_compiled() was called with this digest.
bool was_compiled(std::string const& digest);

/// The bytes as hexadecimal digits.
std::string to_digits(bytes_view bytes);
/// @throws file_error (invalid_record) `digits` are not hexadecimal digits of bytes.
byte_buffer from_digits(std::string const& digits);

/// @throws file_error (invalid_record) with `cause`.
[[noreturn]] void refuse_record(std::string const& cause);

}  // namespace fatlink::cache
