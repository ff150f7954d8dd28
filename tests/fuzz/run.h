#pragma once
// The loop of a fuzzer. A step that crashes, hangs or takes all memory ends the fuzzer with the seed that
// repeats it.

#include <random>

namespace melix::fuzz {

using Random = std::mt19937_64;

/// Runs `step` with new random numbers until the seconds of `--seconds N` (60) have passed, random ones
/// or those from `--from N`, at most `--steps N`; `--seed N` repeats one step.
int runFuzzer(int argc, char** argv, void (*step)(Random& random));

} // namespace melix::fuzz
