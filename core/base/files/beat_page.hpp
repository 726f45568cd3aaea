// SPDX-License-Identifier: Apache-2.0
// A rank's heartbeat: one page of memory that the program and its `dtsubmit rank` share. A beat
// costs the program one store, and neither side waits for the other.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace dts {

// The page holds six 64-bit numbers in the machine's byte order (dtsubmit-environment(7)). Each is
// written by one side and read by the other, without tearing (lock-free atomics). Movable;
// thread-safe.
class BeatPage {
 public:
  // Creates a new page, all zero, which exists as long as any process has it open.
  [[nodiscard]] static Result<BeatPage> create();
  // Creates the page in a new file, for a program that cannot see our /proc; the caller removes it.
  // If the program truncates the file, all numbers read as zero.
  [[nodiscard]] static Result<BeatPage> create_file(const std::string& path);
  // Opens the page at `path`, another process's path(); nullopt if there is none.
  [[nodiscard]] static std::optional<BeatPage> open(const std::string& path);

  // The path by which other processes of the same user open the page: /proc/<our pid>/fd/<number>,
  // or the page's file.
  [[nodiscard]] std::string path() const;

  // Written by the program: any number that grows with its progress, for example its step.
  void beat(std::uint64_t step) { store(0, step); }

  [[nodiscard]] std::uint64_t step() const { return load(0); }

  // Written by the program: the duration of its last checkpoint in milliseconds.
  void saved(std::uint64_t milliseconds) { store(1, std::max<std::uint64_t>(1, milliseconds)); }

  [[nodiscard]] std::uint64_t save_milliseconds() const { return load(1); }

  // Written by `dtsubmit rank`: the interval between checkpoints in milliseconds; 0: no advice yet.
  void advise(std::uint64_t milliseconds) { store(2, milliseconds); }

  [[nodiscard]] std::uint64_t checkpoint_every_milliseconds() const { return load(2); }

  // The same, rounded to seconds.
  [[nodiscard]] std::uint64_t checkpoint_every_seconds() const { return (load(2) + 500) / 1000; }

  // Written by the program before its beat: the duration of its own work in that step in
  // milliseconds, without waiting for other ranks; 0: not reported. Shorter work counts as one
  // millisecond.
  void worked(std::uint64_t milliseconds) { store(3, std::max<std::uint64_t>(1, milliseconds)); }

  [[nodiscard]] std::uint64_t work_milliseconds() const { return load(3); }

  // Written likewise: the part of that work spent waiting for input.
  void waited_for_input(std::uint64_t milliseconds) { store(4, milliseconds); }

  [[nodiscard]] std::uint64_t input_milliseconds() const { return load(4); }

  // Written by the program before it exits with 0: nothing is left to do. This adds to the exit
  // code only after a request to stop.
  void finish() { store(5, 1); }

  [[nodiscard]] bool finished() const { return load(5) != 0 && !asks_again(); }

  // Written by the program in the same place: it has saved and wants to be run again, whatever exit
  // code the command that runs it makes of its own.
  void ask_again() { store(5, k_again); }

  [[nodiscard]] bool asks_again() const { return load(5) == k_again; }

 private:
  class Unmap {
   public:
    void operator()(std::uint64_t* words) const;
  };

  static constexpr std::uint64_t k_again = 85;  // the exit code that means the same

  BeatPage(UniqueFd file, std::uint64_t* words) : file_(std::move(file)), words_(words) {}

  [[nodiscard]] static std::optional<BeatPage> map(UniqueFd file);
  void store(std::size_t word, std::uint64_t value);
  [[nodiscard]] std::uint64_t load(std::size_t word) const;

  UniqueFd file_;
  std::string name_;  // set by create_file()
  std::unique_ptr<std::uint64_t, Unmap> words_;
};

}  // namespace dts
