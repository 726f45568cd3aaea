// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/open_device.hpp"

#include "core/plugin/host.hpp"

#include <fmt/format.h>

namespace dts::train::accelerator {
namespace {

constexpr const char* k_reinstall =
    "install dttrain and its modules from one build, or use --device cpu";

struct Lack {
  int lack;
  const char* what;
  const char* hint;
};

constexpr Lack k_lacks[] = {
    {DTTRAIN_LACKS_DRIVER,
     "no driver works here",
     "run on a node with a GPU and its driver (nvidia-smi shows it), in a container with the "
     "option that lets GPUs in, or use --device cpu"},
    {DTTRAIN_LACKS_NEWER_DRIVER,
     "the driver is too old",
     "have a newer driver installed, or a dttrain that was built with the driver's CUDA"},
    {DTTRAIN_LACKS_DEVICE,
     "there is no device",
     "request a GPU from the scheduler, look at CUDA_VISIBLE_DEVICES, or use --device cpu"},
    {DTTRAIN_LACKS_NEWER_DEVICE,
     "the device is too old",
     "use one of compute capability 8.0 or later (A100, H100), or --device cpu"}};

tl::unexpected<Error> lacking(int lack, const dttrain_answer& answer) {
  const std::string found = answer.text;
  for (const Lack& one : k_lacks)
    if (one.lack == lack)
      return fail(Errc::invalid,
                  fmt::format("{}{}{}", one.what, found.empty() ? "" : ": ", found),
                  one.hint);
  return fail(Errc::invalid,
              "the device cannot be used: " + found,
              "look at the node, or use --device cpu");
}

Result<void> check_table(const dttrain_device* table,
                         const std::string& path,
                         const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::invalid, fmt::format("the module {} {}", path, why), k_reinstall);
  };
  if (table == nullptr) return refuse("describes no device");
  if (table->abi_version != DTTRAIN_DEVICE_ABI)
    return refuse(fmt::format("has version {} of the interface, this dttrain {}",
                              table->abi_version,
                              DTTRAIN_DEVICE_ABI));
  if (table->struct_size != sizeof(dttrain_device) || table->kernels != Kernels::signature())
    return refuse("was built with another dttrain: it has other functions or kernels");
  if (name != table->name) return refuse(fmt::format("calls itself '{}'", table->name));
  return {};
}

}  // namespace

Result<DeviceModule> load_device_module(const std::string& name) {
  const auto path =
      plugin::find_plugin_file(fmt::format("dttrain-{}.so", name), "module of dttrain");
  if (!path)
    return fail(Errc::invalid,
                "the module is missing: " + path.error().message,
                "build dttrain where the CUDA toolkit is and install the module with it, or use "
                "--device cpu");
  const auto loaded = plugin::load_function(*path, DTTRAIN_DEVICE_SYMBOL, "a module of dttrain");
  if (!loaded)
    return fail(Errc::invalid,
                loaded.error().message,
                loaded.error().hint.empty() ? k_reinstall : loaded.error().hint);
  const DeviceModule module{plugin::function_at<dttrain_device_entry>(loaded->address)(),
                            loaded->path};
  DTS_TRY(check_table(module.table, module.path, name));
  return module;
}

Result<int> count_devices(const DeviceModule& module) {
  dttrain_answer answer{};
  const int count = module.table->count(&answer);
  if (count <= 0) return lacking(answer.lack == 0 ? DTTRAIN_LACKS_DEVICE : answer.lack, answer);
  return count;
}

Result<dttrain_context*> open_context(const DeviceModule& module, int number) {
  dttrain_answer answer{};
  dttrain_context* const context = module.table->open(number, &answer);
  if (context == nullptr) return lacking(answer.lack, answer);
  return context;
}

Result<OpenedDevice> open_device(const dttrain_device* table,
                                 const std::string& path,
                                 const std::string& name,
                                 int local) {
  DTS_TRY(check_table(table, path, name));
  OpenedDevice opened;
  DTS_ASSIGN(opened.devices, count_devices({table, path}));
  opened.number = local % opened.devices;
  DTS_ASSIGN(dttrain_context* const context, open_context({table, path}, opened.number));
  opened.queue = std::make_unique<Queue>(*table, context);
  try {
    opened.facts = opened.queue->facts();
  } catch (const DeviceError& e) {
    return fail(Errc::invalid,
                fmt::format("device {} does not work: {}", opened.number, e.what()),
                "look at the node, or use --device cpu");
  }
  return opened;
}

Result<OpenedDevice> open_device(const std::string& name, int local) {
  DTS_ASSIGN(const DeviceModule module, load_device_module(name));
  return open_device(module.table, module.path, name, local);
}

}  // namespace dts::train::accelerator
