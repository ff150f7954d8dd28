#include "loops/tiles/pack_panel.h"

#include <algorithm>
#include <bit>

namespace melix::loops {

using core::OpKind;

namespace {

class Filler {
public:
  Filler(Builder& b, const Contraction& found, SharedSide& side, const PanelLayout& layout, Panel& panel)
      : b_(b), fn_(b.fn), found_(found), side_(side), layout_(layout), panel_(panel) {
    const auto& attr = fn_.stmts[found.columns].as<ForAttr>();
    lanes_ = attr.vectorWidth;
    width_ = int64_t(attr.vectorWidth) * attr.interleave;
  }

  void run(const Copies& fixed) {
    Copies copies(&fixed);
    for (size_t k = 1; k < found_.shared.size(); ++k)
      panel_.bases.push_back(b_.addressOf(panel_.bases.back(), {{panel_.points, b_.integer(1)}},
                                          bytesOf(fn_.typeOf(found_.shared[k - 1])), 0));
    if (layout_.kind == LayoutKind::ByLines)
      side_.writeOuterSums(b_, copies, [&](ValueId first, ValueId end) { makeLines(copies, first, end); });
    else
      side_.writeSums(b_, copies, [&] { makeRow(copies); });
  }

private:
  ValueId columnIndex() const { return fn_.regions[fn_.stmts[found_.columns].regions[0]].params[0]; }
  ValueId indexOf(size_t sum) const { return fn_.regions[fn_.stmts[found_.sums[sum]].regions[0]].params[0]; }

  std::vector<Term> placeInPanel(const Copies& copies, ValueId column) {
    std::vector<Term> terms;
    for (size_t k = 0; k < panel_.strides.size(); ++k)
      terms.push_back({copies.of(indexOf((*side_.extents())[k].sum)), panel_.strides[k]});
    terms.push_back({column, b_.integer(1)});
    return terms;
  }

  /// All columns, for one iteration of the sums.
  void makeRow(Copies& copies) {
    b_.carryLoop(
        panel_.first, panel_.last, {},
        [&](ValueId column, const std::vector<ValueId>& none) {
          Copies here(&copies);
          here.set(columnIndex(), column);
          side_.writeTerms(b_, here);
          const std::vector<Term> place = placeInPanel(here, b_.arith(OpKind::Sub, column, panel_.first));
          for (size_t k = 0; k < panel_.bases.size(); ++k)
            b_.store(panel_.bases[k], place, accessInPanel(fn_.typeOf(found_.shared[k])),
                     here.of(found_.shared[k]));
          return none;
        },
        inLanes(layout_.plain ? width_ / lanes_ : 1));
  }

  /// All iterations of the innermost sum, some columns at a time: the last one again where there are less.
  void makeLines(Copies& copies, ValueId first, ValueId end) {
    const int64_t size = std::max<int64_t>(lanes_ / 2, 1);
    const ValueId zero = b_.integer(0);
    const ValueId count =
        b_.arith(OpKind::Add, b_.arith(OpKind::Sub, panel_.last, panel_.first), b_.integer(size - 1));
    const ValueId groups = b_.arith(OpKind::Shr, count, b_.integer(std::countr_zero(uint64_t(size))));
    ForAttr points;
    points.dependence = Dependence::Independent;
    b_.carryLoop(
        zero, groups, {},
        [&](ValueId group, const std::vector<ValueId>& none) {
          const ValueId place = b_.arith(OpKind::Mul, group, b_.integer(size));
          const ValueId begun = b_.arith(OpKind::Add, panel_.first, place);
          const ValueId most = b_.arith(OpKind::Sub, panel_.last, b_.integer(1));
          std::vector<ValueId> columns;
          for (int64_t k = 0; k < size; ++k)
            columns.push_back(b_.arith(OpKind::Min, b_.arith(OpKind::Add, begun, b_.integer(k)), most));
          b_.carryLoop(
              first, end, {},
              [&](ValueId iteration, const std::vector<ValueId>& nothing) {
                Copies here(&copies);
                here.set(indexOf(found_.sums.size() - 1), iteration);
                side_.writeRow(b_, here);
                makeColumns(here, columns, place);
                return nothing;
              },
              inLanes(1));
          return none;
        },
        points);
  }
  void makeColumns(const Copies& row, const std::vector<ValueId>& columns, ValueId place) {
    std::vector<std::vector<ValueId>> made(panel_.bases.size());
    for (ValueId column : columns) {
      Copies here(&row);
      here.set(columnIndex(), column);
      side_.writeTerms(b_, here);
      for (size_t k = 0; k < made.size(); ++k) made[k].push_back(here.of(found_.shared[k]));
    }
    const std::vector<Term> terms = placeInPanel(row, place);
    for (size_t k = 0; k < made.size(); ++k) {
      Access access = accessInPanel(fn_.typeOf(found_.shared[k]));
      for (ValueId v : made[k]) {
        b_.store(panel_.bases[k], terms, access, v);
        access.offset += access.elemBytes;
      }
    }
  }
  ForAttr inLanes(int64_t unroll) const {
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    attr.vectorWidth = static_cast<uint32_t>(lanes_);
    attr.interleave = static_cast<uint32_t>(unroll);
    attr.predicated = unroll > 1;
    return attr;
  }

  Builder& b_;
  const Function& fn_;
  const Contraction& found_;
  SharedSide& side_;
  const PanelLayout& layout_;
  Panel& panel_;
  int64_t lanes_, width_;
};

} // namespace

Access accessInPanel(ValueType type) { return {type, bytesOf(type), 0, false, false}; }

void fillPanel(Builder& b, const Contraction& found, SharedSide& side, const PanelLayout& layout,
               Panel& panel, Copies& fixed) {
  Filler(b, found, side, layout, panel).run(fixed);
}

} // namespace melix::loops
