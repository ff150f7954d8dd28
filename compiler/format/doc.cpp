// Breaking lines by width, after Oppen (Prettyprinting, 1980): widths are summed once, then one pass decides
// each group.
#include "format/doc.h"

#include "source/source.h"

#include <algorithm>

namespace melix::format {

class Printer {
public:
  Printer(const Doc& doc, uint32_t columns) : ops_(doc.ops_), columns_(columns) { measure(); }

  std::string run() {
    for (size_t k = 0; k < ops_.size(); ++k) step(k);
    if (!out_.empty()) out_ += '\n';
    return std::move(out_);
  }

private:
  using OpKind = Doc::OpKind;
  enum class PendingKind : uint8_t { None, Space, Newline, Blank };

  static bool endsLine(OpKind kind) {
    return kind == OpKind::Hard || kind == OpKind::Blank || kind == OpKind::Trailing || kind == OpKind::Force;
  }

  /// Width on one line and number of forced ends before each op; for each op the next place where a line may
  /// end; for each Begin its End.
  void measure() {
    size_t count = ops_.size();
    width_.assign(count + 1, 0);
    forced_.assign(count + 1, 0);
    nextBreak_.assign(count + 1, count);
    groupEnd_.assign(count, count);
    std::vector<size_t> open;
    for (size_t k = 0; k < count; ++k) {
      const auto& op = ops_[k];
      uint32_t own = op.kind == OpKind::Space ? 1 : characterCount(op.text.substr(0, op.text.find('\n')));
      width_[k + 1] = width_[k] + own;
      forced_[k + 1] = forced_[k] + endsLine(op.kind);
      if (op.kind == OpKind::Begin) open.push_back(k);
      if (op.kind == OpKind::End && !open.empty()) {
        groupEnd_[open.back()] = k;
        open.pop_back();
      }
    }
    for (size_t k = count; k-- > 0;) {
      bool place = ops_[k].kind == OpKind::Line || ops_[k].kind == OpKind::FillLine || endsLine(ops_[k].kind);
      nextBreak_[k] = place ? k : nextBreak_[k + 1];
    }
  }

  /// Whether the ops from `begin` to `end`, and what follows up to the next place, fit on this line.
  bool fits(size_t begin, size_t end) const {
    if (forced_[end] != forced_[begin]) return false;
    size_t until = std::max(end, nextBreak_[end]);
    uint32_t start = pending_ >= PendingKind::Newline || out_.empty()
                         ? 2 * dueDepth_
                         : column_ + (pending_ == PendingKind::Space);
    return start + width_[until] - width_[begin] <= columns_;
  }

  void step(size_t k) {
    const auto& op = ops_[k];
    bool flat = !modes_.empty() && modes_.back();
    switch (op.kind) {
    case OpKind::Text: return put(op.text);
    case OpKind::Space: return due(PendingKind::Space);
    case OpKind::Line: return flat ? putFlat(op.text) : due(PendingKind::Newline);
    case OpKind::FillLine:
      return due(flat || fits(k, nextBreak_[k + 1]) ? PendingKind::Space : PendingKind::Newline);
    case OpKind::Hard: return due(PendingKind::Newline);
    case OpKind::Blank: return due(PendingKind::Blank);
    case OpKind::Force: return;
    case OpKind::Trailing:
      pending_ = out_.empty() ? PendingKind::None : PendingKind::Space;
      put(op.text);
      return due(PendingKind::Newline);
    case OpKind::Begin: return modes_.push_back(flat || fits(k, groupEnd_[k]));
    case OpKind::End: return modes_.pop_back();
    case OpKind::Indent: ++depth_; return;
    case OpKind::Dedent: --depth_; return;
    }
  }

  /// The next text stands on a line indented as deep as we are now.
  void due(PendingKind pending) {
    pending_ = std::max(pending_, pending);
    if (pending >= PendingKind::Newline) dueDepth_ = depth_;
  }

  /// `, ` is a comma and a space that is due.
  void putFlat(std::string_view text) {
    bool space = !text.empty() && text.back() == ' ';
    text.remove_suffix(space);
    if (!text.empty()) put(text);
    if (space) due(PendingKind::Space);
  }

  void put(std::string_view text) {
    if (pending_ >= PendingKind::Newline && !out_.empty()) {
      out_ += pending_ == PendingKind::Blank ? "\n\n" : "\n";
      out_.append(2 * dueDepth_, ' ');
      column_ = 2 * dueDepth_;
    } else if (pending_ == PendingKind::Space && !out_.empty()) {
      out_ += ' ';
      ++column_;
    }
    pending_ = PendingKind::None;
    out_ += text;
    size_t newline = text.rfind('\n');
    column_ = newline == std::string_view::npos ? column_ + characterCount(text)
                                                : characterCount(text.substr(newline + 1));
  }

  const std::vector<Doc::Op>& ops_;
  uint32_t columns_;
  std::vector<uint32_t> width_, forced_;
  std::vector<size_t> nextBreak_, groupEnd_;
  std::string out_;
  PendingKind pending_ = PendingKind::None;
  uint32_t column_ = 0, depth_ = 0, dueDepth_ = 0;
  std::vector<bool> modes_; ///< of the open groups: on one line
};

std::string Doc::print(uint32_t columns) const { return Printer(*this, columns).run(); }

} // namespace melix::format
