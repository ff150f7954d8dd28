#pragma once
// The loop of a fuzzer. A step that crashes, hangs or takes all memory ends the fuzzer with the seed that
// repeats it.

#include <cstdint>
#include <random>

namespace melix::fuzz {

using Random = std::mt19937_64;

/// The seed of the step at work.
uint64_t currentSeed();
/// Gives the step at work its time anew: what it does next is bounded otherwise.
void stepGoesOn();

/// Runs `step` with new random numbers until the seconds of `--seconds N` (60) have passed, random ones
/// or those from `--from N`, at most `--steps N`; `--seed N` repeats one step.
int runFuzzer(int argc, char** argv, void (*step)(Random& random));

} // namespace melix::fuzz
