// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Players, steps, states, actions, episodes and visits are numbers, but not the same kind of
// number: each has a type of its own, so that (s, a) cannot be passed as (a, s).
//
// Inside the library every id counts from 0 (it indexes arrays). People count from 1: number()
// and from_number() translate at the boundary (command line, JSON, messages, docs).
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "vlearn/core/assert.h"

namespace vlearn {

template <class Tag, std::unsigned_integral Rep>
class Id {
 public:
  using rep = Rep;

  constexpr Id() noexcept = default;

  /// From any integer type except bool, never implicitly.
  template <std::integral Integer>
    requires(!std::same_as<std::remove_cv_t<Integer>, bool>)
  constexpr explicit Id(Integer value) : value_(static_cast<Rep>(value)) {
    VLEARN_ASSERT(std::in_range<Rep>(value));
  }

  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
  /// Position in an array.
  [[nodiscard]] constexpr std::size_t index() const noexcept { return value_; }

  /// The number that people see: one more than the value.
  [[nodiscard]] constexpr std::uint64_t number() const noexcept {
    return static_cast<std::uint64_t>(value_) + 1;
  }
  [[nodiscard]] static constexpr Id from_number(std::uint64_t number) {
    VLEARN_ASSERT(number >= 1);
    return Id(number - 1);
  }

  [[nodiscard]] constexpr Id next() const { return Id(value_ + 1); }
  constexpr Id& operator++() noexcept {
    ++value_;
    return *this;
  }

  friend constexpr auto operator<=>(Id, Id) noexcept = default;

 private:
  Rep value_ = 0;
};

using Player = Id<struct PlayerTag, std::uint32_t>;
using Step = Id<struct StepTag, std::uint32_t>;  ///< h of the paper
using State = Id<struct StateTag, std::uint32_t>;
using Action = Id<struct ActionTag, std::uint32_t>;
using Episode = Id<struct EpisodeTag, std::uint64_t>;  ///< k of the paper
using Visit = Id<struct VisitTag, std::uint64_t>;      ///< the i-th visit of one (step, state)

template <class T>
struct IsId : std::false_type {};
template <class Tag, class Rep>
struct IsId<Id<Tag, Rep>> : std::true_type {};

/// One of the id types above.
template <class T>
concept IdType = IsId<T>::value;

/// The ids 0, 1, ..., count - 1: `for (const State s : all<State>(num_states))`.
template <IdType I>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    constexpr Iterator() noexcept = default;
    constexpr explicit Iterator(I id) noexcept : id_(id) {}
    constexpr I operator*() const noexcept { return id_; }
    constexpr Iterator& operator++() noexcept {
      ++id_;
      return *this;
    }
    constexpr Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++id_;
      return before;
    }
    friend constexpr bool operator==(Iterator, Iterator) noexcept = default;

   private:
    I id_;
  };

  constexpr explicit IdRange(std::size_t count) : end_(count) {}
  [[nodiscard]] constexpr Iterator begin() const noexcept { return Iterator(I(0U)); }
  [[nodiscard]] constexpr Iterator end() const noexcept { return Iterator(end_); }

 private:
  I end_;
};

template <IdType I>
[[nodiscard]] constexpr IdRange<I> all(std::size_t count) {
  return IdRange<I>(count);
}

}  // namespace vlearn
