// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Mistakes are exceptions, outcomes are data. An Error is a caller's mistake or a bad input: it
// says where, what is wrong, and what to do about it. It is thrown at the boundary (constructor,
// loader, options check), never from a hot loop.
#pragma once

#include <stdexcept>
#include <string>

namespace vlearn {

/// Who has to act. The command line maps each kind to its exit code.
enum class ErrorKind {
  usage,     ///< a wrong argument or option (exit code 2)
  input,     ///< a file or value that breaks its contract (exit code 3)
  resource,  ///< memory, disk or a size limit (exit code 5)
  internal,  ///< our own mistake (exit code 1)
};

class Error : public std::runtime_error {
 public:
  /// what() reads "place: problem; fix". `place` names the file, line and key, or the option;
  /// `fix` may be empty where the problem says it all.
  Error(ErrorKind kind, std::string place, std::string problem, std::string fix = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& place() const noexcept { return place_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& fix() const noexcept { return fix_; }

 private:
  ErrorKind kind_;
  std::string place_;
  std::string problem_;
  std::string fix_;
};

}  // namespace vlearn
