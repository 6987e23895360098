// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How a long computation is asked to stop. The owner keeps a CancelSource and hands out tokens;
// the computation looks at its token once per episode or sweep. A default token never fires.
#pragma once

#include <atomic>
#include <exception>

namespace vlearn {

/// Thrown by CancelToken::check() where unwinding is the way out.
class Cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "cancelled"; }
};

class CancelToken {
 public:
  CancelToken() noexcept = default;

  [[nodiscard]] bool requested() const noexcept {
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }
  void check() const {
    if (requested()) throw Cancelled();
  }

 private:
  friend class CancelSource;
  explicit CancelToken(const std::atomic<bool>* flag) noexcept : flag_(flag) {}
  const std::atomic<bool>* flag_ = nullptr;
};

/// Must outlive its tokens. request() may be called from another thread or a signal handler.
class CancelSource {
 public:
  CancelSource() noexcept = default;
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;
  CancelSource(CancelSource&&) = delete;
  CancelSource& operator=(CancelSource&&) = delete;
  ~CancelSource() = default;

  void request() noexcept { flag_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] CancelToken token() const noexcept { return CancelToken(&flag_); }

 private:
  std::atomic<bool> flag_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers store to it");
};

}  // namespace vlearn
