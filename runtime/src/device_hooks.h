#pragma once
// Hooks of devices into memory and counts. Programs without code for a device have no hooks: devices that are
// ready set them, and only they give blocks copies.

#include "melix/abi.h"

namespace melix::runtime {

struct DeviceHooks {
  /// Gives up a device's memory for a block (`space` is not 0) that is freed.
  void (*release)(MelixBlock* block);
  /// Gives `to`, a new block of the same size, the elements of `from`, whose host's copy is not valid.
  void (*copy)(MelixTask* task, MelixBlock* to, MelixBlock* from);
};
extern const DeviceHooks* deviceHooks;

} // namespace melix::runtime
