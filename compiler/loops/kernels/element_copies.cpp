#include "loops/kernels/element_copies.h"

#include "loops/ir/build.h"

namespace melix::loops {
namespace {

class ElementCopy {
public:
  ElementCopy(Function& fn, RegionId region, LocId loc) : fn_(fn), region_(region), loc_(loc) {}
  std::vector<StmtId> stmts;

  ValueId value(StmtKind kind, std::vector<ValueId> operands, ValueType type, Attr attr) {
    const StmtId s = fn_.stmts.add({kind, loc_, std::move(operands), {}, {}, std::move(attr)});
    const ValueId made = fn_.values.add({type, s, region_});
    fn_.stmts[s].results.push_back(made);
    stmts.push_back(s);
    return made;
  }
  void statement(StmtKind kind, std::vector<ValueId> operands) {
    stmts.push_back(fn_.stmts.add({kind, loc_, std::move(operands), {}, {}, {}}));
  }

private:
  Function& fn_;
  RegionId region_;
  LocId loc_;
};

} // namespace

std::vector<StmtId> copyElement(Function& fn, RegionId region, StmtId access, ValueId array) {
  const bool isStore = fn.stmts[access].kind == StmtKind::Store;
  std::vector<ValueId> place = fn.stmts[access].operands;
  const ValueId number = place.back(); // of a store
  if (isStore) place.pop_back();
  Access at = fn.stmts[access].as<Access>();
  const uint64_t bytes = bytesOf(at.elem);

  ElementCopy out(fn, region, fn.stmts[access].loc);
  const ValueId size = out.value(StmtKind::Const, {}, indexType, bytes);
  const ValueId kept = out.value(StmtKind::Scratch, {}, addressType, bytes);
  Access addressed = at;
  addressed.elem = addressType;
  const ValueId address = out.value(StmtKind::AddressOf, std::move(place), addressType, addressed);
  if (!isStore) out.statement(StmtKind::Fetch, {array, address, kept, size});
  out.stmts.push_back(access);
  if (isStore) out.statement(StmtKind::Put, {array, address, kept, size});

  at.elemBytes = 0;
  at.offset = 0;
  fn.stmts[access].attr = at;
  fn.stmts[access].operands = isStore ? std::vector<ValueId>{kept, number} : std::vector<ValueId>{kept};
  return out.stmts;
}

} // namespace melix::loops
