// melix explain-device: what of a program runs on a device, what keeps the rest on the host, and which
// elements are copied between them.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "driver/source_lines.h"
#include "loops/device_report.h"

#include <cctype>
#include <set>
#include <string_view>

namespace melix::driver {
namespace {

using loops::DevicePlace;
using Kind = DevicePlace::Kind;
using Places = std::vector<DevicePlace>;

/// Whether a line of the program has the name as a word: others are names of functions that it calls.
bool isNamed(const session::Session& session, const Line& line, std::string_view name) {
  const std::string_view text = textOf(session, line);
  auto isOfWord = [&](size_t k) {
    return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_');
  };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if ((at == 0 || !isOfWord(at - 1)) && !isOfWord(at + name.size())) return true;
  return false;
}

std::string sentenceOf(session::Session& session, const DevicePlace& place, const Line& at) {
  if (place.kind != Kind::Crossing) return place.what;
  const std::string name(place.array.valid() ? session.types.names.text(place.array) : "");
  return place.what + (!name.empty() && isNamed(session, at, name) ? " `" + name + "`" : " an array");
}

/// Sentences by line; a loop only where no kernel or nest is of its line.
std::string deviceText(session::Session& session, const Places& places, std::string_view program) {
  LineSentences lines;
  std::set<Line> nests;
  auto lineAt = [&](const DevicePlace& place) {
    return lineOf(session, session.module(), place.loc, program);
  };
  for (const DevicePlace& place : places)
    if (place.kind == Kind::Launch || place.kind == Kind::OnHost) nests.insert(lineAt(place));
  for (const DevicePlace& place : places) {
    const Line at = lineAt(place);
    if (at.line != 0 && (place.kind != Kind::Loop || !nests.contains(at)))
      ++lines[at][sentenceOf(session, place, at)];
  }
  const std::string out = textOf(lines);
  return out.empty() ? "nothing of this program runs on a device: it has no `on gpu`, or nothing inside that "
                       "sweeps over arrays\n"
                     : out;
}

/// How many kernels there are on each side, and what keeps those of the host there.
std::string counts(const Places& places) {
  size_t there = 0, here = 0;
  std::map<std::string, size_t> reasons;
  for (const DevicePlace& place : places) {
    there += place.kind == Kind::Launch;
    here += place.kind == Kind::OnHost;
    if (place.kind == Kind::OnHost) ++reasons[place.what];
  }
  std::string out = std::to_string(there) + " on the device, " + std::to_string(here) + " on the host\n";
  for (const auto& [why, times] : reasons) out += "  " + std::to_string(times) + " " + why + "\n";
  return out;
}

} // namespace

int commandExplainDevice(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    CodeOptions code = invocation.code;
    code.devices = {.host = false, .emulator = false, .gpu = true};
    const SessionPtr session = makeSession(code);
    if (!prepareProgram(invocation.program, *session)) return Failure;
    const std::optional<loops::Module> module =
        loopsOf(*session, codegenOptions(*session, code, targetOf(code, codegen::TargetKind::Host)));
    if (!module) return Failure;
    const Places places = loops::devicePlaces(*module);
    writeOutput(invocation.show.count ? counts(places)
                                      : deviceText(*session, places, nameOf(invocation.program)));
    return Success;
  });
}

} // namespace melix::driver
