// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/beat_page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace dts {
namespace {

constexpr std::size_t k_bytes = 4096;

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

bool has_page(int file) {
  struct stat found {};

  return ::fstat(file, &found) == 0 && found.st_size >= static_cast<off_t>(k_bytes);
}

}  // namespace

void BeatPage::Unmap::operator()(std::uint64_t* words) const {
  ::munmap(words, k_bytes);
}

std::optional<BeatPage> BeatPage::map(UniqueFd file) {
  void* memory = ::mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return std::nullopt;
  return BeatPage(std::move(file), static_cast<std::uint64_t*>(memory));
}

Result<BeatPage> BeatPage::create() {
  UniqueFd file(::memfd_create("dtsubmit-beat", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ::ftruncate(file.get(), k_bytes) != 0)
    return fail_errno("cannot make a page for the heartbeat");
  // A program that truncated its page would kill us with SIGBUS.
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  auto page = map(std::move(file));
  if (!page) return fail_errno("cannot map the page of the heartbeat");
  return *std::move(page);
}

Result<BeatPage> BeatPage::create_file(const std::string& path) {
  ::unlink(path.c_str());
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || ::ftruncate(file.get(), k_bytes) != 0)
    return fail_errno("cannot make a page for the heartbeat, " + path);
  auto page = map(std::move(file));
  if (!page) return fail_errno("cannot map the page of the heartbeat, " + path);
  page->name_ = path;
  return *std::move(page);
}

std::optional<BeatPage> BeatPage::open(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid() || !has_page(file.get())) return std::nullopt;
  return map(std::move(file));
}

std::string BeatPage::path() const {
  return name_.empty() ? fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()) : name_;
}

void BeatPage::store(std::size_t word, std::uint64_t value) {
  if (!name_.empty() && !has_page(file_.get())) return;
  std::atomic_ref(words_.get()[word]).store(value, std::memory_order_relaxed);
}

std::uint64_t BeatPage::load(std::size_t word) const {
  if (!name_.empty() && !has_page(file_.get())) return 0;
  return std::atomic_ref(words_.get()[word]).load(std::memory_order_relaxed);
}

}  // namespace dts
