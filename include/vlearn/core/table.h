// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Flat tables indexed by ids. **Memory order, for the whole project:** one contiguous array, the
// last index varies fastest, indices stand in the order in which the type lists them. So
// Table<double, Step, State, Action> is value[h][s][a], and the offset of (h, s, a) is
// (h * num_states + s) * num_actions + a. Files, checkpoints and devices use the same order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "vlearn/core/assert.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/error.h"
#include "vlearn/core/id.h"

namespace vlearn {

namespace detail {

/// The number of elements, after making sure that their bytes can be counted.
template <std::size_t Rank>
std::size_t table_size(const std::array<std::size_t, Rank>& extents, std::size_t element_bytes) {
  std::array<std::uint64_t, Rank> factors{};
  std::copy(extents.begin(), extents.end(), factors.begin());
  const std::optional<std::uint64_t> size = checked_product(factors);
  if (!size || *size >= std::numeric_limits<std::ptrdiff_t>::max() / element_bytes) {
    throw Error(ErrorKind::resource, "table", "its size in bytes does not fit 63 bits");
  }
  return static_cast<std::size_t>(*size);
}

/// Offset of the first ids of a table: missing last ids count as 0 over extents of their own.
template <std::size_t Rank, IdType... Ids>
constexpr std::size_t table_offset(const std::array<std::size_t, Rank>& extents, Ids... ids) {
  static_assert(sizeof...(Ids) <= Rank);
  const std::array<std::size_t, sizeof...(Ids)> index = {ids.index()...};
  std::size_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    VLEARN_ASSERT(index[axis] < extents[axis]);
    offset = offset * extents[axis] + index[axis];
  }
  return offset;
}

/// Whether Given... are the first of Ids..., in that order.
template <class Given, class Ids>
struct IsPrefix : std::false_type {};
template <class... Ids>
struct IsPrefix<std::tuple<>, std::tuple<Ids...>> : std::true_type {};
template <class First, class... Given, class... Ids>
struct IsPrefix<std::tuple<First, Given...>, std::tuple<First, Ids...>>
    : IsPrefix<std::tuple<Given...>, std::tuple<Ids...>> {};

}  // namespace detail

/// One T for each combination of ids.
template <class T, IdType... Ids>
class Table {
 public:
  static constexpr std::size_t kRank = sizeof...(Ids);
  using Extents = std::array<std::size_t, kRank>;

  Table() = default;
  explicit Table(const Extents& extents, const T& fill = T{})
      : extents_(extents), values_(detail::table_size(extents, sizeof(T)), fill) {}

  [[nodiscard]] T& operator()(Ids... ids) {
    return values_[detail::table_offset(extents_, ids...)];
  }
  [[nodiscard]] const T& operator()(Ids... ids) const {
    return values_[detail::table_offset(extents_, ids...)];
  }

  /// The contiguous run over the last id, given all others.
  template <IdType... Given>
    requires(sizeof...(Given) + 1 == kRank &&
             detail::IsPrefix<std::tuple<Given...>, std::tuple<Ids...>>::value)
  [[nodiscard]] std::span<T> row(Given... ids) {
    return std::span<T>(values_).subspan(row_begin(ids...), extents_.back());
  }
  template <IdType... Given>
    requires(sizeof...(Given) + 1 == kRank &&
             detail::IsPrefix<std::tuple<Given...>, std::tuple<Ids...>>::value)
  [[nodiscard]] std::span<const T> row(Given... ids) const {
    return std::span<const T>(values_).subspan(row_begin(ids...), extents_.back());
  }

  /// All values in memory order.
  [[nodiscard]] std::span<T> flat() noexcept { return values_; }
  [[nodiscard]] std::span<const T> flat() const noexcept { return values_; }

  [[nodiscard]] const Extents& extents() const noexcept { return extents_; }

  friend bool operator==(const Table&, const Table&) = default;

 private:
  template <class... Given>
  [[nodiscard]] std::size_t row_begin(Given... ids) const {
    return detail::table_offset(extents_, ids...) * extents_.back();
  }

  Extents extents_{};
  std::vector<T> values_;
};

/// A row of T for each combination of ids, every row with a length of its own (the actions of one
/// player differ from state to state). Rows lie one after the other in the order of the ids.
template <class T, IdType... Ids>
class RaggedTable {
 public:
  static constexpr std::size_t kRank = sizeof...(Ids);
  using Extents = std::array<std::size_t, kRank>;

  RaggedTable() = default;
  /// `lengths` holds one length per row, in memory order.
  RaggedTable(const Extents& extents, std::span<const std::uint32_t> lengths, const T& fill = T{})
      : extents_(extents),
        begins_(begins_of(extents, lengths)),
        values_(detail::table_size<1>({begins_.back()}, sizeof(T)), fill) {}

  [[nodiscard]] std::span<T> row(Ids... ids) {
    const std::size_t cell = detail::table_offset(extents_, ids...);
    return std::span<T>(values_).subspan(begins_[cell], begins_[cell + 1] - begins_[cell]);
  }
  [[nodiscard]] std::span<const T> row(Ids... ids) const {
    const std::size_t cell = detail::table_offset(extents_, ids...);
    return std::span<const T>(values_).subspan(begins_[cell], begins_[cell + 1] - begins_[cell]);
  }

  [[nodiscard]] std::span<T> flat() noexcept { return values_; }
  [[nodiscard]] std::span<const T> flat() const noexcept { return values_; }
  [[nodiscard]] const Extents& extents() const noexcept { return extents_; }

  friend bool operator==(const RaggedTable&, const RaggedTable&) = default;

 private:
  static std::vector<std::size_t> begins_of(const Extents& extents,
                                            std::span<const std::uint32_t> lengths) {
    if (lengths.size() != detail::table_size(extents, sizeof(std::size_t))) {
      throw Error(ErrorKind::usage, "ragged table", "there must be one length per row");
    }
    std::vector<std::size_t> begins = {0};
    begins.reserve(lengths.size() + 1);
    for (const std::uint32_t length : lengths) begins.push_back(begins.back() + length);
    return begins;
  }

  Extents extents_{};
  std::vector<std::size_t> begins_ = {0};  // row r is [begins_[r], begins_[r + 1])
  std::vector<T> values_;
};

}  // namespace vlearn
