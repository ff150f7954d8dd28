#include "decompile/decompile.h"
#include "decompile/writer_types.h"

#include "core/ir/walk.h"

#include "decompile/writer.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

class Decompiler {
public:
  Decompiler(const Module& m, FunctionId root)
      : m_(m), names_(m), root_(root), shared_{m, names_, out_.notes} {}

  Source run() {
    bool script = root_ == m_.entry;
    collect(root_);
    if (script) functions_.erase(functions_.begin());
    for (FunctionId f : functions_) (void)names_.function(f);
    for (RecordId record : records_) names_.ofRecord(m_.types.recordInfo(record).dimParams);
    std::string code, statements;
    for (FunctionId f : functions_) code += FunctionWriter(shared_, f).write() + "\n";
    if (script) statements = FunctionWriter(shared_, root_).statements();
    for (RecordId record : records_) out_.text += declaration(record) + "\n";
    for (const auto& [form, hides] : shared_.sized) out_.text += hides.declaration + "\n";
    for (const auto& [signature, declared] : shared_.builtins) out_.text += declared.second + "\n";
    for (const auto& [record, text] : shared_.sums) out_.text += text + "\n";
    out_.text += code + statements;
    while (out_.text.ends_with("\n\n")) out_.text.pop_back();
    return std::move(out_);
  }

private:
  void collect(FunctionId f) {
    if (std::find(functions_.begin(), functions_.end(), f) != functions_.end()) return;
    functions_.push_back(f);
    const Function& fn = m_.functions[f];
    for (const Value& v : fn.values) record(v.type);
    forEachOp(fn, [&](OpId id) {
      if (fn.ops[id].kind == OpKind::Call) collect(fn.ops[id].as<CallAttr>().callee);
    });
  }

  void record(TypeId t) {
    if (!t.valid()) return;
    const types::Type& ty = m_.types[t];
    for (TypeId p : ty.parts) record(p);
    if (!ty.record.valid() || std::find(records_.begin(), records_.end(), ty.record) != records_.end())
      return;
    records_.push_back(ty.record);
    for (const types::EnumCase& c : m_.types.recordInfo(ty.record).cases)
      for (const types::Field& f : c.fields) record(f.type);
  }

  std::string declaration(RecordId id) {
    const types::Record& r = m_.types.recordInfo(id);
    names_.startFunction();
    FunctionWriter writer(shared_, root_);
    std::string dims = parameters(writer, r.dimParams);
    std::string text = std::string(r.isEnum ? "enum " : "struct ") + names_.record(id) + dims + " {\n";
    for (uint32_t c = 0; c < r.cases.size(); ++c) {
      std::string fields;
      for (uint32_t k = 0; k < r.cases[c].fields.size(); ++k) {
        bool positional = r.isEnum && !r.cases[c].fields[k].name.valid();
        std::string field =
            (positional ? "" : names_.field(id, c, k) + ": ") + typeText(writer, r.cases[c].fields[k].type);
        if (r.isEnum)
          fields += (k ? ", " : "") + field;
        else
          text += "  " + field + "\n";
      }
      if (r.isEnum) text += "  " + names_.enumCase(id, c) + (fields.empty() ? "" : "(" + fields + ")") + "\n";
    }
    return text + "}\n";
  }

  const Module& m_;
  Names names_;
  FunctionId root_;
  Source out_;
  Shared shared_;
  std::vector<FunctionId> functions_;
  std::vector<RecordId> records_;
};

} // namespace

Source decompile(const Module& m, FunctionId root) { return Decompiler(m, root).run(); }

} // namespace melix::decompile
