#pragma once
// Internal: the compact code a function becomes. Registers are numbered; a region is a stretch of
// instructions. An instruction is a pointer to its handler and the registers it works on.

#include "core/ir/ir.h"
#include "interp/interp.h"

namespace melix::interp {

struct Frame;
struct Instr;
/// Runs one instruction and gives the next; null ends the run (return, or a panic).
using Handler = const Instr* (*)(Frame & frame, const Instr* in);

/// An operand is a register; with `moveBit` its object is taken out of the register, which nobody reads
/// again.
inline constexpr uint32_t moveBit = 0x80000000u;

/// Data of an instruction that does not fit its four numbers.
struct Extra {
  virtual ~Extra() = default;
};

struct Instr {
  Handler run;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  const Extra* extra = nullptr;
};

template <class T>
const T& extraOf(const Instr* in) {
  return *static_cast<const T*>(in->extra);
}

struct Code {
  core::FunctionId function;
  std::vector<Instr> instrs;
  std::vector<core::LocId> locs;    ///< one an instruction
  std::vector<Slot> constants;      ///< the first registers
  std::vector<uint32_t> objectRegs; ///< to be released when the frame ends
  std::vector<Object*> owned;       ///< strings among the constants
  std::vector<std::unique_ptr<Extra>> extras;
  std::vector<uint32_t> paramRegs; ///< dims, then values
  uint32_t regs = 0;
  ~Code() {
    for (Object* o : owned) release(o);
  }
};

struct Machine;

struct Frame {
  Slot* r;
  Machine* machine;
  const Code* code;
  std::vector<Slot>* results; ///< filled by Return
};

struct Machine {
  Program& program;
  bool panicked = false;
  Panic panic;
  uint64_t steps = 0; ///< calls and iterations so far
  Slot* stack;        ///< registers of the frames
  size_t stackSlots;  ///< reserved
  size_t used = 0;
  uintptr_t lowest; ///< no call where the native stack has grown down to here

  Machine(Program& p, size_t nativeBytes); ///< of them on the native stack, from here on
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Instr* fail(Frame& f, const Instr* in, std::string message);
};

void* reserveStack(size_t bytes);
void freeStack(void* p, size_t bytes);

// Registers.
inline Slot peek(Frame& f, uint32_t operand) { return f.r[operand & ~moveBit]; }
/// The object with a reference of its own.
inline Slot take(Frame& f, uint32_t operand) {
  Slot& place = f.r[operand & ~moveBit];
  Slot s = place;
  if (operand & moveBit)
    place.o = nullptr;
  else
    retain(s.o);
  return s;
}
/// Puts an owned object into a register.
inline void putObject(Frame& f, uint32_t reg, Object* o) {
  Object* old = f.r[reg].o;
  f.r[reg].o = o;
  release(old);
}
inline Slot slotOf(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  Slot s;
  s.u = bits;
  return s;
}
inline Slot slotOf(double v) {
  Slot s;
  s.d = v;
  return s;
}

/// The object of operand b in register a, to be changed in place: nobody else owns it.
template <class T>
T* updated(Frame& f, const Instr* in) {
  Object* o = take(f, in->b).o;
  putObject(f, in->a, o);
  return uniqueAt<T>(f.r[in->a].o);
}

/// Runs from `in` until the code returns. Memory that cannot be had is a panic of the instruction that asked.
void runFrom(Frame& f, const Instr* in);

/// One function a scalar op and kind: a ← op(b, c, d); `detail` is the op's attribute. Null where the op does
/// not exist for the kind. `kind` is that of the first operand.
Handler scalarHandler(core::OpKind op, TypeKind kind, uint32_t detail);
/// a ← convert b; c holds the kinds: from | to << 8 | mode << 16.
const Instr* runConvert(Frame& f, const Instr* in);
const Instr* runBits(Frame& f, const Instr* in); ///< c: kind of the float

} // namespace melix::interp
