#pragma once
// The inside of a MelixTask and of the landings that a panic jumps to.

#include "melix/abi.h"
#include "middle_blocks.h"
#include "spin_lock.h"
#include "text_buffer.h"

namespace melix::runtime {

/// A reserved stack, from low to high addresses: signal stack, emergency stack, guard, the stack itself.
struct Stack {
  uint8_t* map = nullptr;
  size_t mapBytes = 0;
  uint8_t* guard = nullptr;
  uint8_t* low = nullptr; ///< end of the guard
  uint8_t* high = nullptr;

  bool contains(const void* p) const { return p >= low && p < high; }
};

/// Where a panic goes. Lives in the frame of the function that catches.
struct Landing {
  Landing* outer;
  void* sp;        ///< saved by melix_enter
  MelixBlock list; ///< sentinel of the circular list of the blocks made since; only next and prev are used
};

/// The facts about the last panic.
struct PanicReport {
  TextBuffer message;
  TextBuffer place;  ///< `file:line:column` and the source line, as text
  TextBuffer frames; ///< the trace
  TextBuffer text;   ///< all of it together, made when asked for

  void clear() { message.clear(), place.clear(), frames.clear(); }
  void release() { message.release(), place.release(), frames.release(), text.release(); }
};

/// The relations of a task to the world outside of it.
struct Surroundings {
  const MelixHost* host; ///< of `host_take` and `host_give`; null: none
  int32_t thread;        ///< the number that the system has for the one it runs on
  int32_t exitStatus;    ///< asked for by the program
};

} // namespace melix::runtime

struct MelixTask {
  MelixTaskHead head;
  const uint8_t* stackLimit; ///< functions of the runtime that need stack check against it; null: unknown
  MelixBlock* list;          ///< sentinel of the current landing's block list
  MelixBlock rootList;       ///< sentinel used outside all landings
  uint32_t lock;             ///< guards the block list while `threaded`
  melix::runtime::SmallBlocks small;
  melix::runtime::KeptMemory kept;
  MelixStats stats;
  melix::runtime::Landing* landing;
  melix::runtime::Stack stack;
  bool isWorker;
  bool overflowed; ///< the stack was used up: its pages are given back at the landing
  bool inChunk;    ///< runs a chunk of melix_parallel: nested launches are inline
  melix::runtime::PanicReport panic;
  melix::runtime::Surroundings around;
};

namespace melix::runtime {

inline MelixBlock* headerOf(const void* data) {
  return reinterpret_cast<MelixBlock*>(const_cast<uint8_t*>(static_cast<const uint8_t*>(data)) -
                                       MELIX_HEADER_BYTES);
}
inline uint8_t* dataOf(MelixBlock* block) { return reinterpret_cast<uint8_t*>(block) + MELIX_HEADER_BYTES; }

inline void makeEmptyList(MelixBlock& sentinel) { sentinel.next = sentinel.prev = &sentinel; }

// landing.cpp
/// melix_catch without freeing blocks or leaving the current stack: for chunks, whose blocks the launcher
/// takes over.
int32_t runWithLanding(MelixTask* task, MelixBodyFn body, void* context, bool freeBlocks);
/// Jumps to the landing; without one, writes the panic and ends the process.
[[noreturn]] void leaveToLanding(MelixTask* task, int32_t status);
void initTask(MelixTask* task);
/// Joins the blocks of one list to another; the sentinel of the first is of no use afterwards.
void spliceList(MelixBlock& from, MelixBlock& to);

// memory.cpp
/// Frees every block of a list, without looking at their contents.
void freeList(MelixTask* task, MelixBlock& sentinel);
/// Moves all blocks of `from`'s current list to `to`'s, with the counters. Only one thread runs.
void adoptBlocks(MelixTask* to, MelixTask* from);
void freeKept(MelixTask* task); ///< the C library's memory of a task that ends, except its blocks
void freeBlock(MelixTask* task, MelixBlock* block); ///< already unlinked
void unlinkBlock(MelixTask* task, MelixBlock* block);

// stack.cpp
/// Reserves a stack of `bytes`, or of less if the system refuses; false if nothing could be had.
bool makeStack(Stack& stack, size_t bytes);
void freeStack(Stack& stack);
/// Gives back the pages that were touched, below the caller's frame if it is on this stack.
void forgetPages(Stack& stack);
size_t mainStackBytes();
size_t workerStackBytes();
/// Makes the handler for stack overflows know this task, and gives the calling thread a signal stack.
void watchStack(MelixTask* task);
/// Gives the calling thread the signal stack of the task.
void useSignalStack(MelixTask* task);
void unwatchStack(MelixTask* task);
/// The watched task on whose stack that is, or null.
MelixTask* taskOf(const void* at);
constexpr int maxWatched = 256;
/// A watched task, in one of so many places, or null.
MelixTask* watchedTask(int k);

// interrupts.cpp
void forgetInterruptible(MelixTask* task);

// trace.cpp
/// Whether code of a line table is there.
bool isCode(const void* at);

// panic.cpp
[[noreturn]] void stackOverflow(MelixTask* task, const void* const* frame);
/// Panics when less of the stack is left than functions of the runtime need.
inline void checkStack(MelixTask* task) {
  const void* here = __builtin_frame_address(0);
  if (here < task->stackLimit && here >= task->stack.low) [[unlikely]]
    stackOverflow(task, static_cast<const void* const*>(__builtin_frame_address(0)));
}
[[noreturn]] void panicText(MelixTask* task, const char* message);
/// Raises the panic of `from` in `to`, its trace continued by the frames of `to`.
[[noreturn]] void raiseAgain(MelixTask* to, MelixTask* from);

} // namespace melix::runtime
