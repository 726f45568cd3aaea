// SPDX-License-Identifier: Apache-2.0
// A module whose device executes the PTX of the kernels on the host (execution.hpp); all other
// things are those of the host's device. An error is reported by all later calls that wait.
#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "tests/ptx/execution.hpp"
#include "tests/support/host_context.hpp"
#include "tests/support/host_device.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <typeinfo>

namespace {

using namespace dts::train::accelerator;

std::string g_wrong;  // the first error; or empty

const std::map<std::string, ptx::Kernel>& kernels() {
  static const std::map<std::string, ptx::Kernel> all = [] {
    std::ifstream file(PTX_FILE);
    return ptx::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  }();
  return all;
}

template <class Kernel>
const ptx::Kernel& compiled() {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(Kernel).name(), nullptr, nullptr, nullptr), &std::free);
  const auto found = kernels().find(name.get());
  if (found == kernels().end()) throw std::runtime_error(std::string("no PTX of ") + name.get());
  return found->second;
}

bool is_allocated(const dttrain_context& context, std::uint64_t at, std::size_t bytes) {
  const void* const first = reinterpret_cast<const void*>(at);
  auto next = context.memory.upper_bound(first);
  if (next == context.memory.begin()) return false;
  --next;
  const auto begin = reinterpret_cast<std::uint64_t>(next->first);
  return at - begin + bytes <= next->second;
}

template <class Kernel>
void execute(const dttrain_context& context, const Kernel& kernel) {
  if (!g_wrong.empty()) return;
  try {
    static unsigned seed = 0;
    ptx::execute(
        compiled<Kernel>(),
        {&kernel,
         sizeof kernel,
         kernel.blocks(),
         Kernel::k_threads,
         ++seed,
         [&](std::uint64_t at, std::size_t bytes) { return is_allocated(context, at, bytes); }});
  } catch (const std::exception& e) {
    g_wrong = e.what();
  }
}

const char* launch(dttrain_context* context, std::uint32_t number, const void* arguments) {
  const bool is_known = Kernels::visit(number, arguments, [&](const auto& kernel) {
    (void)context->enqueue(DTTRAIN_COMPUTE, [context, kernel] { execute(*context, kernel); });
  });
  return is_known ? nullptr : "no such kernel";
}

const char* wait(dttrain_context* context) {
  const char* const wrong = host_device::wait(context);
  return wrong != nullptr || g_wrong.empty() ? wrong : g_wrong.c_str();
}

const char* wait_event(dttrain_context* context, dttrain_event* event) {
  const char* const wrong = host_device::wait_event(context, event);
  return wrong != nullptr || g_wrong.empty() ? wrong : g_wrong.c_str();
}

}  // namespace

DTTRAIN_DEVICE_EXPORT const dttrain_device* dttrain_device_v1() {
  static const dttrain_device made = [] {
    dttrain_device one = *host_device::table_of_module();
    one.launch = launch;
    one.wait = wait;
    one.wait_event = wait_event;
    return one;
  }();
  return &made;
}
