#pragma once
// The builtins' declarations, and reading and writing of their slots (melix/abi.h, section 7).

#include "task.h"

// The one list is the compiler's; here only symbols with C linkage and one type are needed. A test compares
// them.
extern "C" {
#pragma GCC visibility push(default)
#define BUILTIN(symbol) void symbol(MelixTask* task, const uint64_t* args, uint64_t* results);
BUILTIN(melix_io_print)
BUILTIN(melix_io_eprint)
BUILTIN(melix_io_write)
BUILTIN(melix_io_read_line)
BUILTIN(melix_progress_step)
BUILTIN(melix_progress_note)
BUILTIN(melix_str_concat)
BUILTIN(melix_str_equal)
BUILTIN(melix_str_compare)
BUILTIN(melix_str_hash)
BUILTIN(melix_str_slice)
BUILTIN(melix_str_char_at)
BUILTIN(melix_str_get)
BUILTIN(melix_str_next)
BUILTIN(melix_str_from_char)
BUILTIN(melix_str_bytes)
BUILTIN(melix_str_from_bytes)
BUILTIN(melix_str_find)
BUILTIN(melix_str_find_last)
BUILTIN(melix_str_contains)
BUILTIN(melix_str_starts_with)
BUILTIN(melix_str_ends_with)
BUILTIN(melix_str_replace)
BUILTIN(melix_str_split)
BUILTIN(melix_str_words)
BUILTIN(melix_syntax_absent)
BUILTIN(melix_str_lines)
BUILTIN(melix_str_join)
BUILTIN(melix_str_trim)
BUILTIN(melix_str_trim_start)
BUILTIN(melix_str_trim_end)
BUILTIN(melix_str_repeat)
BUILTIN(melix_str_upper)
BUILTIN(melix_str_lower)
BUILTIN(melix_parse_int)
BUILTIN(melix_parse_f32)
BUILTIN(melix_parse_f64)
BUILTIN(melix_file_read)
BUILTIN(melix_file_read_bytes)
BUILTIN(melix_file_write)
BUILTIN(melix_file_write_bytes)
BUILTIN(melix_file_append)
BUILTIN(melix_file_exists)
BUILTIN(melix_csv_read)
BUILTIN(melix_csv_write)
BUILTIN(melix_npy_read)
BUILTIN(melix_npy_write)
BUILTIN(melix_idx_read)
BUILTIN(melix_idx_write)
BUILTIN(melix_clock)
BUILTIN(melix_arguments)
BUILTIN(melix_command_declare)
BUILTIN(melix_command_parse)
BUILTIN(melix_command_given)
BUILTIN(melix_command_int)
BUILTIN(melix_command_float)
BUILTIN(melix_command_text)
BUILTIN(melix_command_rest)
BUILTIN(melix_environment)
BUILTIN(melix_exit)
BUILTIN(melix_host_take)
BUILTIN(melix_host_give)
BUILTIN(melix_host_run)
#undef BUILTIN
#pragma GCC visibility pop
}

namespace melix::runtime {

inline MelixStr strArg(const uint64_t* slots) {
  return {reinterpret_cast<const uint8_t*>(slots[0]), static_cast<int64_t>(slots[1])};
}
inline void setStr(uint64_t* slots, MelixStr text) {
  slots[0] = reinterpret_cast<uint64_t>(text.data);
  slots[1] = static_cast<uint64_t>(text.len);
}

/// A str with memory of its own.
inline MelixStr makeStr(MelixTask* task, const void* data, int64_t len) {
  if (len <= 0) return {nullptr, 0};
  void* copy = melix_alloc(task, len);
  memcpy(copy, data, static_cast<size_t>(len));
  return {static_cast<const uint8_t*>(copy), len};
}
inline MelixStr makeStr(MelixTask* task, const char* text) {
  return makeStr(task, text, static_cast<int64_t>(strlen(text)));
}
/// Memory for a str of `len` > 0 bytes, to be filled.
inline uint8_t* newText(MelixTask* task, int64_t len) {
  return static_cast<uint8_t*>(melix_alloc(task, len));
}

/// The same for a buffer, which is released; it must be the only one alive, because this may panic.
inline MelixStr takeStr(MelixTask* task, TextBuffer& buffer) {
  MelixStr text = makeStr(task, buffer.data, buffer.len);
  buffer.release();
  return text;
}

} // namespace melix::runtime
