#pragma once
// A reference to a callable, for parameters that are called and not kept. It owns nothing: the callable has
// to outlive it, as the argument of a call does.

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace melix {

template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
public:
  /// None: it is false, and may not be called.
  FunctionRef() = default;
  FunctionRef(std::nullptr_t) {}

  template <class Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
             std::is_invocable_r_v<Result, Callable&, Args...>)
  FunctionRef(Callable&& callable) { // NOLINT(bugprone-forwarding-reference-overload)
    using Target = std::remove_reference_t<Callable>;
    if constexpr (std::is_function_v<Target>) {
      target_ = reinterpret_cast<void*>(&callable);
      call_ = [](void* target, Args... args) -> Result {
        return std::invoke(reinterpret_cast<Target*>(target), std::forward<Args>(args)...);
      };
    } else {
      target_ = const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
      call_ = [](void* target, Args... args) -> Result {
        return std::invoke(*static_cast<Target*>(target), std::forward<Args>(args)...);
      };
    }
  }

  Result operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_ != nullptr; }

private:
  void* target_ = nullptr;
  Result (*call_)(void*, Args...) = nullptr;
};

} // namespace melix
