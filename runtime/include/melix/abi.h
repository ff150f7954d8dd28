// The contract between compiled Melix code, the runtime and the tools that host it (JIT, interpreter,
// driver).
//
// Plain C, so that generated code, C++ and foreign callers see the same layouts. Sections:
//   1 blocks              2 tasks and landings    3 panics and line tables   4 threads   5 memory operations
//   6 lists, text, order  7 builtins              8 programs                 9 hosting
// Values in memory and type descriptors are in melix/types.h.
//
// Every compiled function takes `MelixTask*` as its first argument. Functions named here have C linkage.
#ifndef MELIX_ABI_H
#define MELIX_ABI_H

#include "melix/types.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct MelixTask MelixTask;

// ---------------------------------------------------------------------------------------------------------
// 1. Blocks: a 64-byte header before 64-byte-aligned data.
// ---------------------------------------------------------------------------------------------------------

/// The largest extent of an axis, and product of the extents of an array that are not 0.
#define MELIX_MAX_EXTENT (INT64_C(1) << 47)

enum MelixLayout {
  MELIX_LAYOUT_BYTES = 0,    // no references inside; `type` is null
  MELIX_LAYOUT_ELEMENTS = 1, // bytes / type->size values of `type`
  MELIX_LAYOUT_LIST = 2,     // MelixListHead, then `cap` places for values of `type`, `len` of them in use
  MELIX_LAYOUT_NODE = 3,     // a node of the boxed enum `type`
};

enum MelixValid {
  MELIX_VALID_HOST = 1,
  MELIX_VALID_DEVICE = 2,
  MELIX_VALID_ZERO = 1 << 15, // of a block without a valid copy: all its elements are 0
};

enum { MELIX_IMMORTAL = INT32_MIN }; // any negative count is never changed and never freed

typedef struct MelixBlock {
  int32_t refs;            // owners; 1 after melix_alloc
  uint16_t space;          // whether a device has memory for it
  uint16_t valid;          // the copies that have its elements: bits of MelixValid
  uint64_t bytes;          // of data
  struct MelixBlock* next; // the block list of `owner`
  struct MelixBlock* prev;
  MelixTask* owner;      // the task in whose list the block is; null for constants
  const MelixType* type; // see MelixLayout
  uint8_t layout;        // MelixLayout
  uint8_t sizeClass;     // of the runtime's allocator
  uint16_t shift;        // from the memory obtained to the header
  uint32_t filled;       // of a text made by putting texts together: the bytes that some text has; else 0
  uint64_t obtained;     // bytes of that memory; not of a small block
} MelixBlock;            // constants: refs = MELIX_IMMORTAL, valid = 1, the rest as fits or 0; aligned to 64

enum { MELIX_HEADER_BYTES = 64, MELIX_DATA_ALIGN = 64 };

// Blocks of large arrays begin at a multiple of this, or 64 bytes after it if they have less data than
// MELIX_STREAMED_BYTES. Code sees from the address of the data alone that an array is worth storing past the
// cache. A small array rarely lies so by chance, and costs time only.
enum { MELIX_LARGE_ALIGN = 2 << 20, MELIX_STREAMED_BYTES = 8 << 20 };

// ---------------------------------------------------------------------------------------------------------
// 2. Tasks. Generated code reads the first two fields only, at these offsets.
// ---------------------------------------------------------------------------------------------------------

typedef struct MelixTaskHead {
  int32_t cancel; // offset 0: not 0 → call melix_cancelled(task); polled at loop back-edges of orchestration
  int32_t threaded; // offset 4: not 0 → several threads run: counts must be changed atomically
} MelixTaskHead;    // a MelixTask begins with this

// ---------------------------------------------------------------------------------------------------------
// 3. Panics. They do not return: the landing of the task frees the blocks made since, and gets the text
//    `file:line:column: panic: message`, the source line, and one `  at function (file:line)` a frame. The
//    place is the innermost frame found in a line table, so calls need a debug location and nothing else. One
//    in a file of the library gives way to the innermost outside: a function of the library that checks its
//    arguments is told of where it was called.
// ---------------------------------------------------------------------------------------------------------

#if defined(__cplusplus)
#define MELIX_NORETURN [[noreturn]]
#else
#define MELIX_NORETURN _Noreturn
#endif

#define MELIX_LIBRARY_FOLDER "stdlib/" // the paths of the library's files begin so

MELIX_NORETURN void melix_panic(MelixTask* task, const uint8_t* message, int64_t len);

// `format` is NUL-terminated; `{0}` … `{9}` in it stand for the `count` numbers. A number is an int64_t; with
// a letter after the digit it is the bits of a uint64_t (`u`), a float (`s`) or a double (`d`).
MELIX_NORETURN void melix_panic_format(MelixTask* task, const char* format, int64_t count,
                                       const int64_t* values);

// The same as melix_panic at a place given by the compiler, for code without a line table. `place` is
// "file:line:column" and `line` the text of the source line (both NUL-terminated, `line` may be null).
MELIX_NORETURN void melix_panic_at(MelixTask* task, const char* place, const char* line,
                                   const uint8_t* message, int64_t len);

// Ends the task because it was cancelled (Ctrl-C); called when the flag `cancel` is seen.
MELIX_NORETURN void melix_cancelled(MelixTask* task);

// One inlined frame of a call: offsets into `strings`.
typedef struct MelixFrame {
  uint32_t function;
  uint32_t file;
  uint32_t line;
  uint32_t column;
  uint32_t text; // the source line, without its newline
} MelixFrame;

// A return address, and its frames: frames[first .. first of the next entry), innermost first.
typedef struct MelixLineEntry {
  uint32_t address; // return address - base
  uint32_t first;
} MelixLineEntry;

// One table per piece of code (a finished object's text section). Entries are sorted by address and end with
// a sentinel {size of the code, number of frames}, which `count` does not count. Only exact return addresses
// are found.
typedef struct MelixLineTable {
  const uint8_t* base;
  uint64_t size; // bytes of code
  const MelixLineEntry* entries;
  uint64_t count;
  const MelixFrame* frames;
  const char* strings;         // NUL-terminated pieces
  struct MelixLineTable* next; // used by the runtime; the table itself is writable data
} MelixLineTable;

void melix_register_lines(MelixLineTable* table);
void melix_unregister_lines(MelixLineTable* table);

// ---------------------------------------------------------------------------------------------------------
// 4. Threads.
// ---------------------------------------------------------------------------------------------------------

// Works on [begin, end). Returns -1, or the number of the first failed check, at which it stopped. May panic.
typedef int64_t (*MelixChunkFn)(MelixTask* task, void* context, int64_t begin, int64_t end);

// Runs `fn` over [0, extent) in chunks, which are multiples of `grain` but for the last one, and of any such
// size: results must not depend on it. `work` estimates the whole in nanoseconds: with less than
// MELIX_INLINE_WORK, on a worker, or with one thread, it runs here. Chunks take some 20 ms then, and the task
// may be cancelled between them. Of less than a millisecond the first chunks run here. The result is that of
// the failed chunk with the lowest index, else -1; if that chunk panicked, the panic is raised here. Chunks
// after a failed one may or may not have run.
#define MELIX_INLINE_WORK 30000
int64_t melix_parallel(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent, int64_t grain,
                       int64_t work);

// Memory for a kernel that this thread runs, aligned as arrays are, contents undefined. It is the same for
// one kernel after the other, and lives as long as the task.
void* melix_scratch(MelixTask* task, int64_t bytes);

// Number of threads (MELIX_THREADS, else the processors this process may use). Results never depend on it.
int32_t melix_thread_count(void);

// ---------------------------------------------------------------------------------------------------------
// 5. Memory. All pointers are data pointers; null and constants are allowed where a counted value is.
// ---------------------------------------------------------------------------------------------------------

// Memory for `bytes` (≥ 0) of plain data, contents undefined, count 1. Panics when there is none.
void* melix_alloc(MelixTask* task, int64_t bytes);
// The same, zeroed.
void* melix_alloc_zeroed(MelixTask* task, int64_t bytes);
// A block that holds references as `layout` and `type` say. ELEMENTS and NODE are zeroed (all-zero values are
// valid to drop); NODE gets its tag and fields from the caller; LIST is the business of section 6.
void* melix_alloc_typed(MelixTask* task, int64_t bytes, const MelixType* type, int32_t layout);

void melix_retain(MelixTask* task, void* data);
// Drops one owner; the last one frees the block and releases its elements, with a worklist (no recursion).
void melix_release(MelixTask* task, void* data);
// For boxed enum words, where an immediate has its lowest bit set.
void melix_retain_word(MelixTask* task, void* word);
void melix_release_word(MelixTask* task, void* word);
// The block itself if it has one owner, else a copy with count 1 (its references retained) after giving up
// one ownership of the old block. A constant is always copied; null stays null.
void* melix_ensure_unique(MelixTask* task, void* data);
// The same of a block without references, of which a copy need not have the bytes from `first` up to `last`:
// the caller fills them. It has all bytes if these are not some of the block: then the caller panics, or
// fills none.
void* melix_unique_beside(MelixTask* task, void* data, int64_t first, int64_t last);
// For every counted part of a stored value: retain or release it.
void melix_retain_value(MelixTask* task, const MelixType* type, const void* value);
void melix_release_value(MelixTask* task, const MelixType* type, const void* value);
// bytes = elem * dims[0] * … ; panics if a dim is negative or the product does not fit.
int64_t melix_checked_bytes(MelixTask* task, int64_t elem, int64_t rank, const int64_t* dims);

// ---------------------------------------------------------------------------------------------------------
// 6. Lists, text, order. `list` is the place of the list value (a pointer to its word); it is made unique
// first. `elem` is the
//    element type; elements are moved in and out: no counting.
// ---------------------------------------------------------------------------------------------------------

// Makes room for one more element and returns its place, to be filled by the caller.
void* melix_list_push(MelixTask* task, void** list, const MelixType* elem);
// Shortens the list by one and returns the place of the element that was last, valid until the next call on
// this list; null if the list is empty.
void* melix_list_pop(MelixTask* task, void** list, const MelixType* elem);
// Makes the list unique with room for at least `cap` elements.
void melix_list_reserve(MelixTask* task, void** list, const MelixType* elem, int64_t cap);
int64_t melix_list_length(const void* list);

// Dense array data of the `len` elements of a list, and back (both copy; elements are retained).
void* melix_list_to_array(MelixTask* task, const void* list, const MelixType* elem);
void* melix_list_from_array(MelixTask* task, const void* data, int64_t len, const MelixType* elem);

// -1, 0, 1: two texts by bytes, which is by code points.
int32_t melix_str_order(const uint8_t* a, int64_t aLen, const uint8_t* b, int64_t bLen);

// The stable order of `len` elements of a number, bool, char or str type: out[k] is the index of the k-th.
// NaN come last, also when descending.
void melix_argsort(MelixTask* task, const MelixType* elem, const void* data, int64_t len, int32_t descending,
                   int64_t* out);

// ---------------------------------------------------------------------------------------------------------
// 7. Builtins: `compiler/ops/builtins.def` lists them. All have this one type. Arguments and results lie in
//    8-byte slots:
//      Bool Char I64 F32 F64       one slot; smaller than 8 bytes: in its low bytes (results zero-extended)
//      Str                         two slots: data, len
//      Bytes (u8[_])               two slots: data, length
//      StrList (List[str])         one slot: the list word
//      Value (any type)            two slots: const MelixType*, pointer to the stored form
//      StrPack (variadic, last)    two slots: count, pointer to an array of MelixStr
//      Asked (result only)         an array or a scalar of the type asked for: two *argument* slots after the
//      last argument:
//                                  const MelixType*, pointer to rank wanted dims (i64, -1: any); result of
//                                  an array: 1 + rank slots: data, dims; of a scalar: as it is stored
//      Given (result only)         no slots: two *argument* slots after the last argument: const MelixType*,
//                                  pointer to where the stored form goes
//    Arguments are borrowed. Counted results are owned by the caller. A builtin that may fail returns Bool ok
//    first and Str error last; on failure its other results are empty.
// ---------------------------------------------------------------------------------------------------------

typedef void (*MelixBuiltinFn)(MelixTask* task, const uint64_t* args, uint64_t* results);

// ---------------------------------------------------------------------------------------------------------
// 8. Programs.
// ---------------------------------------------------------------------------------------------------------

enum MelixStatus {
  MELIX_OK = 0,
  MELIX_FAILED = 1, // a diagnostic, an `Err` out of main
  MELIX_USAGE = 2,  // a wrong command line
  MELIX_PANIC = 101,
  MELIX_CANCELLED = 130,
  MELIX_EXIT = -1, // from melix_catch only: exit(n) was called, the number is melix_exit_status(task)
};

// Runs the script's statements and main. Returns MELIX_OK, or MELIX_FAILED after it has written the error to
// standard error.
typedef int32_t (*MelixEntryFn)(MelixTask* task);

typedef struct MelixProgram {
  MelixEntryFn entry;
  MelixLineTable* lines; // `lineTables` of them, one for each object; further ones by melix_register_lines
  int32_t cpuLevel;      // 3: made for x86-64-v3, checked at start; 0 or 1: no check
  int32_t lineTables;
  const struct MelixDevices* devices; // of a program with code for a device; else null
  int32_t deviceFlags;                // MelixDeviceFlags
} MelixProgram;

// Runs a program: called by an executable's start code with the arguments of the process (argv[0] is the
// program), and by the driver for `melix run`. Runs the entry on a stack of its own, writes the text of a
// panic and the statistics (MELIX_STATS=1), and ends the pool. Returns the exit status.
int32_t melix_main(int32_t argc, char** argv, const MelixProgram* program);

// ---------------------------------------------------------------------------------------------------------
// 9. Devices.
// ---------------------------------------------------------------------------------------------------------

enum MelixDeviceFlags {
  MELIX_DEVICE_NEEDED = 1,  // the program has no code by which this processor could stand in
  MELIX_DEVICE_CHECKED = 2, // blocks run on both sides, and their results are compared
};

typedef struct MelixDevices {
  // Reads MELIX_DEVICE: called before the first statement of the program. MELIX_OK, or the exit status after
  // an error was written: MELIX_USAGE for a word that it does not know, MELIX_FAILED where the device that is
  // asked for is not there. `flags`: of the program.
  int32_t (*start)(int32_t flags);
  // Called after the last statement, however the program ends: writes the counts that MELIX_DEVICE_LOG asks
  // for to standard error, `melix: device: 4 launches of 2 kernels, …`.
  void (*end)(void);
  // The blocks of the device that is ready, if any; else null.
  const struct MelixStats* (*stats)(void);
} MelixDevices;

extern const MelixDevices melix_devices;
// The same for a program that has code for the emulator, which runs kernels on this processor in a memory of
// its own.
extern const MelixDevices melix_devices_and_emulator;

enum MelixDeviceKind {
  MELIX_DEVICE_NONE, // this processor stands in
  MELIX_DEVICE_GPU,
  MELIX_DEVICE_EMULATED,
};
// For which device code that is to run in this process is made, by MELIX_DEVICE. Where that is not set it is
// a GPU if `probe` is not 0 and there is its driver; whether it can be used is known when it is opened.
// `flags` become the ones of a program: MELIX_DEVICE_NEEDED where it ends at its start if that device cannot
// be used.
int32_t melix_device_kind(int32_t probe, int32_t* flags);

// From now on blocks of this process and its children run on this processor, without a word.
void melix_device_forgo(void);

// Writes a line for each GPU to standard output, or to standard error why there is none. Gives the exit
// status.
int32_t melix_list_devices(void);

// Whether code for the device runs there; the first call opens a GPU. 0: it runs on this processor; the first
// call says so on standard error, unless MELIX_DEVICE=cpu asks for that.
int64_t melix_device_ready(int64_t device);

enum MelixCapture {
  MELIX_CAPTURE_NUMBER = 'n',
  MELIX_CAPTURE_READ = 'r',    // the data of a block, of which the kernel reads elements
  MELIX_CAPTURE_WRITTEN = 'w', // the data of a block, of which it writes elements
  MELIX_CAPTURE_SCRATCH = 's', // how many bytes of scratch a point has
};

// Machine code of a GPU for the kernels of an image.
typedef struct MelixCubin {
  int32_t architecture; // 10 × major + minor compute capability, negative if it runs on that one alone
  int32_t unused;
  const void* data;
  int64_t bytes;
} MelixCubin;

// Kernels that a GPU loads together.
typedef struct MelixImage {
  const char* ptx; // ends with NUL; null: without code for GPUs
  int64_t bytes;   // without the NUL
  const MelixCubin* cubins;
  int64_t cubinCount;
  void* module; // of the driver, once it is loaded
} MelixImage;

enum {
  MELIX_BLOCK_THREADS = 256, // of a GPU, that have memory together
  MELIX_SCRATCH_ALIGN = 64,  // of each piece of the scratch of a point, in the order of the captures
  MELIX_CHECK_NUMBERS = 10,  // the most numbers in the message of a check of a kernel
};

// The first point of a launch that fails a check; in memory of the device while it runs. All zero: none has.
typedef struct MelixFailure {
  uint32_t lock; // whether a thread writes
  uint32_t unused;
  uint64_t left; // how many points are not before it: the extent less its index
  int64_t check; // the number of the check
  uint64_t numbers[MELIX_CHECK_NUMBERS];
} MelixFailure;

// The code of a kernel for the emulated device: the points from `begin` to `end`. Gives the number of the
// check that fails, and its numbers, or -1.
typedef int64_t (*MelixEmulatedFn)(uint64_t* numbers, const uint64_t* captures, int64_t begin, int64_t end);

typedef struct MelixKernel {
  MelixEmulatedFn emulated; // or null
  const char* captures;     // a letter for each (MelixCapture)
  int64_t count;            // of captures
  int64_t checks;           // how many it has
  int64_t threads;          // that run a point together: a power of two, MELIX_BLOCK_THREADS at most
  int64_t launches;         // so far
  // Of its entry in the image: (extent, captures…, if it has scratch a number of pieces and their address, if
  // it has checks the address of a MelixFailure), all of them words. A point or group has a piece at a time.
  const char* name;
  MelixImage* image;
  void* function; // of the driver, once it is loaded
} MelixKernel;

// Runs a kernel over [0, extent), a thread or a group of threads a point, on the device that is ready.
// `captures` are words. The device's copies of arrays are made valid before; of an array that it writes no
// other copy is valid then. Panics if the device has no memory left, or fails. Gives the number of the check
// that fails at the first point that fails one, and its numbers; -1 if there is none, which a kernel without
// checks does not wait for.
int64_t melix_device_launch(MelixTask* task, MelixKernel* kernel, int64_t extent, const uint64_t* captures,
                            uint64_t* numbers);

// Groups on the emulated device: `count` threads run each point of [begin, end) together, with `bytes` of
// memory that they share. Gives the result of a MelixEmulatedFn.
int64_t melix_group_run(MelixEmulatedFn thread, int64_t count, int64_t bytes, uint64_t* numbers,
                        const uint64_t* captures, int64_t begin, int64_t end);
// For the thread that runs: its position in the group; that memory; a barrier; the word of the thread at the
// position that differs from its own by `distance`, bit by bit. The number is that of the barrier or shuffle
// in the kernel: all threads of a group come to the same one.
int64_t melix_group_thread(void);
void* melix_group_shared(void);
void melix_group_barrier(int64_t number);
uint64_t melix_group_shuffle(uint64_t word, int64_t distance, int64_t number);

// Makes the host's copy of a block valid, and if `update` is not 0 the only valid one.
void melix_device_acquire(MelixTask* task, void* data, int32_t update);
// Copies elements between blocks without references where they are valid: on the device if its copy of
// `from` is, else on the host. `toPlace` and `fromPlace` are addresses inside `to` and `from`.
void melix_device_copy(MelixTask* task, void* to, void* toPlace, void* from, const void* fromPlace,
                       int64_t bytes);
// Copies some elements out of a block, whichever copy of it is valid, and into all its valid copies. `place`
// is an address inside the block.
void melix_device_fetch(MelixTask* task, void* data, const void* place, void* to, int64_t bytes);
void melix_device_put(MelixTask* task, void* data, void* place, const void* from, int64_t bytes);
// Panics if two values of a type, in their stored forms, have other bits; `name` is their name in the
// program.
void melix_device_compare(MelixTask* task, const MelixType* type, const void* here, const void* there,
                          const char* name);

// ---------------------------------------------------------------------------------------------------------
// 10. Hosting: for the JIT, the prompt, the test runner, the interpreter.
// ---------------------------------------------------------------------------------------------------------

MelixTask* melix_task_create(void);
// Frees the blocks left in its list.
void melix_task_destroy(MelixTask* task);

typedef void (*MelixBodyFn)(MelixTask* task, void* context);

// Runs `body` on the task's own big stack. Returns MELIX_OK, or MELIX_PANIC, MELIX_CANCELLED, MELIX_EXIT
// after the blocks allocated inside, and not freed, have been freed; blocks from before are not touched.
// Frames in between are left without unwinding: the body must not own C++ objects at a point that may panic.
// May be nested.
int32_t melix_catch(MelixTask* task, MelixBodyFn body, void* context);

// The text of the last caught panic (message, source line, trace), owned by the task, valid until the next
// one; a zero that `len` does not count ends it.
const char* melix_panic_text(MelixTask* task, int64_t* len);
// The message alone, without place and trace.
const char* melix_panic_message(MelixTask* task, int64_t* len);
int32_t melix_exit_status(MelixTask* task);

// One builtin under melix_catch.
int32_t melix_call_builtin(MelixTask* task, MelixBuiltinFn fn, const uint64_t* args, uint64_t* results);

// The values that code gets from its host and gives it, by numbers that the two agree on (builtins
// `host_take` and `host_give`). The functions run under the landing of the code: they own no C++ objects
// where they may panic. Code that has no host panics.
typedef struct MelixHost {
  void* context;
  // Puts the stored form of a value at `place`, which owns it.
  void (*take)(void* context, MelixTask* task, int64_t number, const MelixType* type, void* place);
  // The value is borrowed.
  void (*give)(void* context, MelixTask* task, int64_t number, MelixValue value);
} MelixHost;
// The host lives on; null: none.
void melix_set_host(MelixTask* task, const MelixHost* host);

// After a panic: frames that were left without unwinding owned some of the blocks that were made before.
// Counts the owners of the task's blocks anew, if the values are all that is owned, and frees blocks that
// have none. Outside melix_catch.
void melix_count_owners(MelixTask* task, const MelixValue* values, int64_t count);

// The arguments of the program, argv[0] its name. The array must live on. Forgets the declarations of an
// earlier program.
void melix_set_arguments(int32_t argc, char** argv);

// From now on Ctrl-C sets `cancel` of this task and its workers; a second one before it is noticed ends the
// process with 130. melix_clear_cancel makes the task usable again.
void melix_watch_interrupt(MelixTask* task);
// The same as a Ctrl-C, but never ends the process. May be called from any thread and from handlers of
// signals.
void melix_interrupt(void);
// Code that only computes does not look at `cancel`: from now on a Ctrl-C that nothing answers within a
// second ends the process.
void melix_end_when_deaf(void);
// Instead: from now on a Ctrl-C that is not answered within 50 ms makes compiled code leave wherever it is,
// as if it had looked. Nobody knows the blocks that it owned, so the host counts owners anew
// (melix_count_owners).
void melix_leave_when_deaf(void);
void melix_clear_cancel(MelixTask* task);

typedef struct MelixStats {
  int64_t liveBlocks;
  int64_t liveBytes;
  int64_t allocations;
  int64_t peakBytes;
} MelixStats;
MelixStats melix_stats(MelixTask* task);
// `melix: live blocks 0, allocations 12, peak 4096 bytes` on standard error.
void melix_print_stats(MelixTask* task);

// Printing by descriptor: the text of a value as `print` shows it (rule 5), or by a format specification
// `[[fill]<^>][+][0][width][.digits][e|f|g|x|b|%]` (without braces and colon; empty: the printed form). A
// width or digits written `{}` are `first`, then `second`. A specification that is malformed or does not fit
// the type panics; melix_check_format returns its error in advance, or null. `quoted`: a str or char is
// written as inside another value.
MelixStr melix_format_value(MelixTask* task, const MelixType* type, const void* value, const uint8_t* spec,
                            int64_t specLen, int32_t quoted, int64_t first, int64_t second);
const char* melix_check_format(const uint8_t* spec, int64_t specLen, int32_t kind);

// Standard output is buffered (until a newline on a terminal). Flush before fork and before other writers.
void melix_flush(void);
// At the end of a program: flushes, and if standard output could not be written to says so on standard error,
// but for a reader that is gone. Returns the exit status, which then is not 0.
int32_t melix_end_output(int32_t status);
// For a process that is a program of Melix: the C library keeps freed memory, up to 256 MiB, for later
// requests. Otherwise it would give pages back and be given fresh ones, with a page fault for each.
void melix_keep_heap(void);
// Opens each of the descriptors 0, 1 and 2 that is closed, such that every use of it fails. So no file gets
// its number.
void melix_hold_standard_files(void);
// Receives all text instead of standard output (fd 1) and standard error (fd 2) when set; null restores.
typedef void (*MelixWriteFn)(void* context, int32_t fd, const uint8_t* data, int64_t len);
void melix_set_writer(MelixWriteFn writer, void* context);

// The state of a loop over the library's `progress`.
typedef struct MelixProgress {
  MelixStr label;
  MelixStr note;
  int64_t total; // steps; negative: unknown
  int64_t done;
  double seconds; // since it began
  int32_t ended;
} MelixProgress;
// Receives the progress of loops, at most every twentieth of a second but for the end of a loop, in place of
// the lines on standard error when set; null restores.
typedef void (*MelixProgressFn)(void* context, const MelixProgress* progress);
void melix_set_progress(MelixProgressFn receiver, void* context);

// Ends the pool's threads; a later melix_parallel starts them again.
void melix_pool_stop(void);
// In a forked child: forgets threads that exist only in the parent.
void melix_after_fork(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
