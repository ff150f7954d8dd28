#include "loops/device_report.h"

#include <algorithm>
#include <utility>

namespace melix::loops {
namespace {

using Kind = DevicePlace::Kind;

class DeviceReport {
public:
  explicit DeviceReport(const Module& module) : module_(module) {}

  std::vector<DevicePlace> run() {
    for (FunctionId f(0); f.index < module_.functions.size(); ++f.index) {
      const Function& fn = module_.functions[f];
      if (fn.kind == FunctionKind::Orchestration && fn.body.valid()) region(fn, fn.body, f);
    }
    for (const OnHost& nest : module_.onHost)
      out_.push_back({Kind::OnHost, nest.loc, "on the host: " + std::string(nest.why), {}});
    return std::move(out_);
  }

private:
  void region(const Function& fn, RegionId r, FunctionId f) {
    for (StmtId id : fn.regions[r].stmts) statement(fn, fn.stmts[id], f);
  }

  void statement(const Function& fn, const Stmt& s, FunctionId f) {
    switch (s.kind) {
    case StmtKind::Launch: return launch(s);
    case StmtKind::Acquire: return crossing(fn, s, "the host reads");
    case StmtKind::AcquireUpdate: return crossing(fn, s, "the host writes");
    case StmtKind::Fetch: return crossing(fn, s, "the host reads elements of");
    case StmtKind::Put: return crossing(fn, s, "the host writes elements of");
    case StmtKind::Call: return call(fn, s, f);
    case StmtKind::For:
    case StmtKind::While:
      if (fn.device != Device::Host && !launches(fn, s)) return hostLoop(fn, s);
      break;
    default: break;
    }
    for (RegionId inner : s.regions) region(fn, inner, f);
  }

  void add(Kind kind, const Stmt& s, std::string what) { out_.push_back({kind, s.loc, std::move(what), {}}); }
  void crossing(const Function& fn, const Stmt& s, std::string what) {
    out_.push_back({Kind::Crossing, s.loc, std::move(what), fn.values[s.operands[0]].hint});
  }

  void launch(const Stmt& s) {
    const Function& kernel = module_.functions[s.as<FunctionId>()];
    if (kernel.kind != FunctionKind::Device) return;
    const LaunchPoints& points = kernel.points;
    const std::string threads =
        points.threads > 1 ? std::to_string(points.threads) + " threads " : "a thread ";
    const std::string side = std::to_string(points.tile);
    const auto loops = std::ranges::count_if(kernel.stmts, [](const Stmt& k) { return isLoop(k); });
    add(Kind::Launch, s,
        points.tile > 0    ? (loops > 1 ? "sums at each point, " : "a transposed map, ") + threads +
                                 "a tile of " + side + " x " + side + " points"
        : points.areBlocks ? "a total, " + threads + "a block of 8192 terms"
        : loops > 1        ? "loops at each point, " + threads + "a point"
                           : "a map, a thread a point");
  }

  void call(const Function& fn, const Stmt& s, FunctionId f) {
    const auto callee = s.as<FunctionId>();
    if (fn.device == Device::Host || mayLaunch(callee)) return;
    if (!reaches(callee, [&](FunctionId reached) { return reached == f; })) return;
    add(Kind::Loop, s, "on the host: recursion");
  }

  /// Whether a function is of a kind, or calls may come from it to one that is.
  template <class Is>
  bool reaches(FunctionId from, const Is& is) const {
    std::vector<FunctionId> open{from};
    std::vector<bool> seen(module_.functions.size());
    while (!open.empty()) {
      const FunctionId f = open.back();
      open.pop_back();
      if (is(f)) return true;
      if (seen[f.index]) continue;
      seen[f.index] = true;
      for (const Stmt& s : module_.functions[f].stmts)
        if (s.kind == StmtKind::Call) open.push_back(s.as<FunctionId>());
    }
    return false;
  }

  bool isDeviceLaunch(const Stmt& s) const {
    return s.kind == StmtKind::Launch && module_.functions[s.as<FunctionId>()].kind == FunctionKind::Device;
  }
  /// Whether a function, or one that it calls, has launches of a device.
  bool mayLaunch(FunctionId function) const {
    return reaches(function, [&](FunctionId f) {
      return std::ranges::any_of(module_.functions[f].stmts,
                                 [&](const Stmt& s) { return isDeviceLaunch(s); });
    });
  }

  /// Whether a statement launches, or calls what may.
  bool launches(const Function& fn, const Stmt& s) const {
    if (isDeviceLaunch(s)) return true;
    if (s.kind == StmtKind::Call && mayLaunch(s.as<FunctionId>())) return true;
    return std::ranges::any_of(s.regions, [&](RegionId r) {
      return std::ranges::any_of(fn.regions[r].stmts, [&](StmtId id) { return launches(fn, fn.stmts[id]); });
    });
  }

  template <class Is>
  bool holds(const Function& fn, const Stmt& s, const Is& is) const {
    return is(s) || std::ranges::any_of(s.regions, [&](RegionId r) {
             return std::ranges::any_of(fn.regions[r].stmts,
                                        [&](StmtId id) { return holds(fn, fn.stmts[id], is); });
           });
  }

  void hostLoop(const Function& fn, const Stmt& s) {
    auto has = [&](StmtKind kind) {
      return holds(fn, s, [kind](const Stmt& inner) { return inner.kind == kind; });
    };
    const bool hasList = holds(fn, s, [](const Stmt& inner) {
      return inner.kind == StmtKind::Runtime && inner.as<RuntimeCall>().kind == RuntimeKind::ListPush;
    });
    add(Kind::Loop, s,
        hasList                  ? "on the host: a List that grows"
        : has(StmtKind::Builtin) ? "on the host: a loop with a function of the runtime, as for output"
                                 : "on the host: a loop whose iterations follow one another");
  }

  const Module& module_;
  std::vector<DevicePlace> out_;
};

} // namespace

std::vector<DevicePlace> devicePlaces(const Module& module) { return DeviceReport(module).run(); }

} // namespace melix::loops
