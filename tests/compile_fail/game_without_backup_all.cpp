// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A model that knows its law must also back up all players at once; the message names what is
// missing.
// expect: backup_all
#include "vlearn/game/evaluate.h"

struct Model {
  vlearn::Frame f;
  const vlearn::Frame& frame() const { return f; }
  vlearn::State start(const vlearn::Nature& nature) const { return f.draw_start(nature); }
  vlearn::State sample(vlearn::Step,
                       vlearn::State,
                       std::span<const vlearn::Action>,
                       const vlearn::Nature&,
                       std::span<double>) const {
    return {};
  }
  void backup(const vlearn::Stage&,
              vlearn::Player,
              std::span<const double>,
              std::span<double>,
              vlearn::Workspace&) const {}
#ifndef VLEARN_MISUSE
  void backup_all(const vlearn::Stage&,
                  const vlearn::NextValues&,
                  const vlearn::ActionValues&,
                  vlearn::Workspace&) const {}
#endif
  double backup_error(double) const { return 0.0; }
  double law_defect() const { return 0.0; }
  void add_law_to(vlearn::Sha256&) const {}
};

std::vector<double> value(const Model& model) { return vlearn::uniform_value(model); }
