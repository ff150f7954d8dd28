#pragma once
#include <string>
#include <utility>
#include <vector>

/// What tests that run whole programs share.
namespace melix::harness {

struct ProcessResult {
  int status = -1; ///< exit status, or 128 + the signal that ended it
  std::string output;
  std::string errors;
};

struct ProcessOptions {
  std::string folder;                                           ///< where it runs; empty: here
  std::vector<std::pair<std::string, std::string>> environment; ///< added to this process's
};

/// Runs a program to its end and collects what it writes.
ProcessResult runProcess(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

/// The lines of a text, without line ends; no empty last line.
std::vector<std::string> splitLines(const std::string& text);

/// The parts of a text between spaces.
std::vector<std::string> splitWords(const std::string& text);

std::string readText(const std::string& path); ///< empty if there is no such file

/// What follows `prefix` on a line, if the line (after its indentation) begins with it.
bool takePrefix(const std::string& line, const std::string& prefix, std::string& rest);

} // namespace melix::harness
