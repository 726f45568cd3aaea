// SPDX-License-Identifier: Apache-2.0
#include "core/run/event/action.hpp"

#include "core/base/text/names.hpp"

namespace dts::run {
namespace {

constexpr Names<Action, 6> k_actions{{{Action::done, "done"},
                                      {Action::stop, "stop"},
                                      {Action::restart, "restart"},
                                      {Action::requeue, "requeue"},
                                      {Action::resubmit, "resubmit"},
                                      {Action::wait, "wait"}}};

}  // namespace

const char* to_string(Action action) {
  return name_of(k_actions, action);
}

std::optional<Action> action_from(std::string_view text) {
  return value_of(k_actions, text);
}

}  // namespace dts::run
