#pragma once

#include <cstdint>
#include <string_view>

namespace melix {

/// Where code runs. A function of Core runs where its caller does, unless it is the block of an `on`. A
/// function of Loops runs on the host or on the GPU: one of Core that both reach is lowered for each.
enum class Device : uint8_t { Caller, Host, Gpu };

constexpr std::string_view nameOf(Device device) {
  return device == Device::Gpu ? "gpu" : device == Device::Host ? "cpu" : "caller";
}
/// The device of the name after `on`; `Caller` for any other name.
constexpr Device deviceNamed(std::string_view name) {
  for (Device device : {Device::Gpu, Device::Host})
    if (name == nameOf(device)) return device;
  return Device::Caller;
}
/// Where a function runs that is called from code on `caller`.
constexpr Device calledOn(Device own, Device caller) { return own == Device::Caller ? caller : own; }

/// For which devices a program has code of the parts that run on one.
struct DeviceCode {
  bool host = true;      ///< this processor stands in where there is no device
  bool emulator = false; ///< kernels for the emulated device
  bool gpu = false;      ///< kernels for GPUs
  bool checked = false;  ///< parts run on both sides, whose results are compared
  bool any() const { return emulator || gpu; }
};

} // namespace melix
