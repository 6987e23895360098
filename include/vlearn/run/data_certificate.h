// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate from data alone: how much anybody can gain against what a run with the rigorous
// bonus returns, from numbers that each player has kept for itself, with no model of the game
// (docs/theory/data_certificate.md). For cce, ce and optimal
//
//   gap <= max_j (1/K) sum_k (V^k_j - V_low^k_j)(s_1)         start `uniform`, the paper's output
//   gap <= max_j (V^{K+1}_j - V_low^{K+1}_j)(s_1)             start `last`
//
// and for nash, where players draw their indices independently, the same of V_1 + V_2 - H, which
// bounds both gains together. With probability 1 - delta, at all times at once; where the law of
// the first state is unknown (simulators) with probability 1 - 2 delta, start_radius() more, and
// for `uniform` only.
#pragma once

#include <cstdint>
#include <optional>

#include "vlearn/agent/options.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/certificate.h"
#include "vlearn/game/frame.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

/// 1 - delta, or 1 - 2 delta.
[[nodiscard]] double data_confidence(const Frame& frame, const LearnerOptions& options) noexcept;

/// Of the nested output with this start, `uniform` or `last`; method "data". Nothing where no proof
/// covers it: options without bounds, monotone ones, episodes beyond horizon_episodes, `last` where
/// the law of the first state is unknown. `options` are the trainer's.
[[nodiscard]] std::optional<Certificate> data_certificate(const Trainer& trainer,
                                                          const Frame& frame,
                                                          const LearnerOptions& options,
                                                          CertifiedStart start,
                                                          const CertificateTitle& title = {});

/// The one of the two with the smaller gap: both hold at once, so the choice is free.
[[nodiscard]] std::optional<Certificate> data_certificate(const Trainer& trainer,
                                                          const Frame& frame,
                                                          const LearnerOptions& options,
                                                          const CertificateTitle& title = {});

}  // namespace vlearn
