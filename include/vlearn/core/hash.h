// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 says what a thing is (files, games, policies); XXH3 says fast whether bytes changed by
// accident (segments of a history, signatures). Neither is written here: OpenSSL and xxHash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct SHA256state_st;  // OpenSSL's SHA256_CTX

namespace vlearn {

using Sha256Digest = std::array<std::byte, 32>;

/// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();

  void update(std::span<const std::byte> bytes);
  /// Once, at the end.
  [[nodiscard]] Sha256Digest finish();

 private:
  struct Free {
    void operator()(SHA256state_st* context) const noexcept;
  };
  std::unique_ptr<SHA256state_st, Free> context_;
};

[[nodiscard]] Sha256Digest sha256(std::span<const std::byte> bytes);

/// XXH3 of 64 bits, seed 0.
[[nodiscard]] std::uint64_t xxh3(std::span<const std::byte> bytes) noexcept;

/// Lower-case hexadecimal digits, two per byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace vlearn
