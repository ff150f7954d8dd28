#include "transforms/canonical/scalarise_collected_records.h"

#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/walks/for_each_function.h"

#include <map>

namespace melix::transforms {

using namespace core;

namespace {

class RecordSplitter {
public:
  RecordSplitter(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  bool run() {
    std::vector<OpId> nests;
    forEachOp(f_, [&](OpId op) {
      if (f_.ops[op].kind == OpKind::Nest) nests.push_back(op);
    });
    for (OpId op : nests) nest(op);
    return changed_;
  }

private:
  void nest(OpId id) {
    // What comes may be records again: it stands after the results that were there, but for accumulators.
    for (uint32_t k = 0; k < nestResults(f_.ops[id]).size(); ++k) {
      const NestView view(f_, f_.ops[id]);
      const NestPart part = view.parts()[k];
      const ValueId record = view.yields(part)[0], result = view.results(part)[0];
      if (!isWhole(*part.spec, view.axes()) || !isRecord(f_.typeOf(record)) || !onlyPartsAreRead(result))
        continue;
      split(id, record, result);
      changed_ = true;
    }
  }
  static bool isWhole(const NestResult& r, size_t axes) {
    return r.kind == NestResultKind::Collect && r.keep == collecting(axes).keep;
  }
  bool isRecord(TypeId t) const {
    return m_.types.kind(t) == TypeKind::Tuple || m_.types.kind(t) == TypeKind::Struct;
  }
  size_t fieldStep(const Op& get) const {
    return leadingAxes(m_.types, f_.typeOf(get.operands[0]), get.as<Path>());
  }
  /// Of the array, or of a record that is read of it.
  bool onlyPartsAreRead(ValueId records) const {
    bool only = uses_.used(records);
    uses_.forEach(records, [&](Use use) {
      const Op& op = f_.ops[use.op];
      if (!only || op.kind != OpKind::Get || use.operand != 0) {
        only = false;
        return;
      }
      if (fieldStep(op) < op.as<Path>().size()) return;
      only = isRecord(f_.typeOf(op.results[0])) && onlyPartsAreRead(op.results[0]);
    });
    return only;
  }

  void split(OpId nest, ValueId record, ValueId result) {
    std::map<uint32_t, std::vector<OpId>> readersOf; // by part
    readParts(result);
    uses_.forEach(result, [&](Use use) {
      const Op& get = f_.ops[use.op];
      readersOf[get.as<Path>()[fieldStep(get)].number].push_back(use.op);
    });
    std::vector<ValueId> parts;
    for (const auto& [k, readers] : readersOf) parts.push_back(partOf(nest, record, k));
    const std::vector<ValueId> arrays = collectMore(m_, f_, uses_, nest, parts);
    auto array = arrays.begin();
    for (const auto& [k, readers] : readersOf) {
      for (OpId get : readers) readFrom(get, *array);
      ++array;
    }
  }
  /// Parts of a record that is read of the array are read of the array.
  void readParts(ValueId records) {
    std::vector<OpId> whole;
    uses_.forEach(records, [&](Use use) {
      const Op& get = f_.ops[use.op];
      if (fieldStep(get) == get.as<Path>().size()) whole.push_back(use.op);
    });
    for (OpId id : whole) {
      std::vector<OpId> parts;
      uses_.forEach(f_.ops[id].results[0], [&](Use use) { parts.push_back(use.op); });
      for (OpId part : parts)
        uses_.change(part, [&](Op& get) {
          const Op& record = f_.ops[id];
          const Path& path = record.as<Path>();
          get.as<Path>().insert(get.as<Path>().begin(), path.begin(), path.end());
          get.operands[0] = records;
          get.operands.insert(get.operands.begin() + 1, record.operands.begin() + 1, record.operands.end());
        });
      const RegionId home = uses_.regionOf(id);
      uses_.leave(id);
      std::erase(f_.regions[home].ops, id);
    }
  }
  /// In the body, before its end.
  ValueId partOf(OpId nest, ValueId record, uint32_t k) {
    const OpId made = f_.values[record].def;
    if (made.valid() && f_.ops[made].kind == OpKind::Make) return f_.ops[made].operands[k];
    const RegionId body = f_.ops[nest].regions[0];
    std::vector<OpId>& ops = f_.regions[body].ops;
    const OpId end = ops.back();
    ops.pop_back();
    const ValueId part = Builder(m_, id_, body, f_.ops[nest].loc).field(record, k);
    uses_.enter(f_.values[part].def, body);
    ops.push_back(end);
    return part;
  }
  /// The read of a part of a record is one of the array of those parts.
  void readFrom(OpId id, ValueId array) {
    const size_t field = fieldStep(f_.ops[id]);
    uses_.change(id, [&](Op& get) {
      Path& path = get.as<Path>();
      get.operands[0] = array;
      path.erase(path.begin() + static_cast<std::ptrdiff_t>(field));
    });
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  bool changed_ = false;
};

} // namespace

bool scalariseCollectedRecords(Module& m) {
  return changeBodies(m, [&](FunctionId f) { return RecordSplitter(m, f).run(); });
}

} // namespace melix::transforms
