#include "interp/interp.h"

#include "interp/compile.h"

#include <pthread.h>

namespace melix::interp {

Program::Program(const core::Module& module, Hooks hooks)
    : module_(module), hooks_(std::move(hooks)), forms_(module.types, module.recordsFlat) {}
Program::~Program() = default;

const Code& Program::code(core::FunctionId f) {
  if (codes_.size() < module_.functions.size()) codes_.resize(module_.functions.size());
  std::unique_ptr<Code>& code = codes_[f.index];
  if (!code) {
    code = std::make_unique<Code>();
    Compiler(*this, f, *code).compile();
  }
  return *code;
}

namespace {

struct Job {
  Program& program;
  core::FunctionId function;
  std::vector<Value> args;
  std::vector<int64_t> dims;
  size_t stackBytes;
  RunResult result;
};

constexpr size_t registerStack = size_t(64) << 20; // slots; pages are touched on use only
constexpr size_t nativeStack = size_t(1024) << 20; // bytes, reserved; as compiled code has
constexpr size_t hostStack = size_t(6) << 20;      // bytes that are left where a thread is not to be had
constexpr size_t nativeReserve = size_t(1) << 20;  // bytes for what a call does besides calling

/// Arguments and results in the form of the module.
void runCode(Job& job) {
  const core::Function& fn = job.program.module().functions[job.function];
  Machine m(job.program, job.stackBytes);
  const Code& code = job.program.code(job.function);
  std::vector<Slot> results;
  Frame f{m.stack, &m, &code, &results};
  std::memcpy(static_cast<void*>(f.r), code.constants.data(), code.constants.size() * sizeof(Slot));
  m.used = code.regs;
  size_t reg = 0;
  for (size_t k = 0; k < fn.dimParams.size(); ++k)
    f.r[code.paramRegs[reg++]].i = k < job.dims.size() ? job.dims[k] : 0;
  for (Value& v : job.args) f.r[code.paramRegs[reg++]] = v.takeSlot();
  runFrom(f, code.instrs.data());
  for (uint32_t r : code.objectRegs) release(f.r[r].o);
  job.result.steps = m.steps;
  job.result.panicked = m.panicked;
  job.result.panic = std::move(m.panic);
  if (m.panicked) return;
  size_t at = 0;
  for (; at < fn.resultDims.size(); ++at) job.result.dims.push_back(results[at].i);
  for (core::TypeId t : fn.results)
    job.result.values.emplace_back(slotKind(job.program.module().types, t), results[at++]);
}

void runJob(Job& job) {
  const core::Function& fn = job.program.module().functions[job.function];
  Forms& forms = job.program.forms();
  auto panic = [&](std::string message) {
    job.result.panicked = true;
    job.result.panic.message = std::move(message);
    job.result.values.clear();
  };
  try {
    for (size_t k = 0; k < job.args.size(); ++k)
      job.args[k] = forms.inward(fn.typeOf(fn.params()[k]), job.args[k]);
    runCode(job);
    for (size_t k = 0; k < job.result.values.size(); ++k)
      job.result.values[k] = forms.outward(fn.results[k], job.result.values[k]);
  } catch (const OutOfMemory& asked) {
    panic(asked.message());
  } catch (const std::bad_alloc&) {
    panic("out of memory");
  }
}

void* threadMain(void* p) {
  runJob(*static_cast<Job*>(p));
  return nullptr;
}

} // namespace

Machine::Machine(Program& p, size_t nativeBytes)
    : program(p), stack(static_cast<Slot*>(reserveStack(registerStack * sizeof(Slot)))),
      stackSlots(std::min(registerStack, nativeBytes / sizeof(Slot))),
      lowest(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - nativeBytes + nativeReserve) {}
Machine::~Machine() { freeStack(stack, registerStack * sizeof(Slot)); }

RunResult Program::run(core::FunctionId f, std::vector<Value> args, std::vector<int64_t> dims) {
  if (dims.empty()) dims = dimsOfArguments(module_, f, args);
  const size_t bound = hooks().stackBytes > 0 ? hooks().stackBytes : nativeStack;
  Job job{*this, f, std::move(args), std::move(dims), std::min(bound, nativeStack), {}};
  // Melix recursion becomes recursion here where a call stands in a nest or not; so the run has a stack of
  // its own.
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, nativeStack);
  pthread_t thread;
  bool started = pthread_create(&thread, &attr, threadMain, &job) == 0;
  pthread_attr_destroy(&attr);
  if (started) {
    pthread_join(thread, nullptr);
  } else {
    job.stackBytes = hostStack;
    runJob(job);
  }
  return std::move(job.result);
}

namespace {

/// Takes the sizes of a value apart beside its type: a dimension that is one symbol gets the size found.
void matchDims(const types::TypeStore& types, types::TypeId type, const Value& v,
               std::unordered_map<types::DimSym, int64_t>& found) {
  const types::Type& t = types[type];
  if (!isObject(v.kind()) || !v.slot().o) return;
  if (t.kind == TypeKind::Array) {
    for (size_t k = 0; k < t.dims.size(); ++k)
      if (std::optional<types::DimSym> s = types.dims.asSymbol(t.dims[k]))
        found.emplace(*s, v.asArray().dims[k]);
    return;
  }
  if (t.kind == TypeKind::Tuple || t.kind == TypeKind::Known)
    for (size_t k = 0; k < t.parts.size(); ++k) matchDims(types, t.parts[k], v.part(k), found);
  if (t.kind == TypeKind::Struct) {
    const types::Record& r = types.recordInfo(t.record);
    std::unordered_map<types::DimSym, int64_t> own;
    for (size_t k = 0; k < r.cases[0].fields.size(); ++k)
      matchDims(types, r.cases[0].fields[k].type, v.part(k), own);
    for (size_t k = 0; k < t.dims.size(); ++k) {
      std::optional<types::DimSym> s = types.dims.asSymbol(t.dims[k]);
      if (auto it = own.find(r.dimParams[k]); s && it != own.end()) found.emplace(*s, it->second);
    }
  }
}

} // namespace

std::vector<int64_t> dimsOfArguments(const core::Module& m, core::FunctionId f, std::span<const Value> args) {
  const core::Function& fn = m.functions[f];
  std::unordered_map<types::DimSym, int64_t> found;
  for (size_t k = 0; k < args.size() && k < fn.params().size(); ++k)
    matchDims(m.types, fn.typeOf(fn.params()[k]), args[k], found);
  std::vector<int64_t> out;
  for (types::DimSym s : fn.dimParams) out.push_back(found.contains(s) ? found[s] : 0);
  return out;
}

} // namespace melix::interp
