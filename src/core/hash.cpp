// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/hash.h"

// The functions of EVP, which are to replace these, set up the whole library first, some thousand
// allocations, and crash when one of them fails. These take no memory.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#define XXH_INLINE_ALL  // header only: nothing to link
#include <xxhash.h>

#include "vlearn/core/error.h"

namespace vlearn {
namespace {

void require(bool good) {
  if (!good) throw Error(ErrorKind::internal, "SHA-256", "OpenSSL refused to compute it");
}

}  // namespace

void Sha256::Free::operator()(SHA256state_st* context) const noexcept { delete context; }

Sha256::Sha256() : context_(new SHA256_CTX()) { require(SHA256_Init(context_.get()) == 1); }

void Sha256::update(std::span<const std::byte> bytes) {
  require(SHA256_Update(context_.get(), bytes.data(), bytes.size()) == 1);
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  require(SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), context_.get()) == 1);
  return digest;
}

Sha256Digest sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::uint64_t xxh3(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    text += digits[value >> 4U];
    text += digits[value & 15U];
  }
  return text;
}

}  // namespace vlearn
