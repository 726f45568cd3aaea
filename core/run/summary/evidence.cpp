// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/evidence.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <system_error>

namespace dts::run {

// Messages of Linux (errno(3), signal(7)), the C++ library, CPython, PyTorch 1.13 to 2.x, NCCL,
// Gloo, Horovod, TensorFlow, JAX, Ray and Open MPI; of R, Rust and Go those for exhausted memory.
// Words that a program also prints when all is well ("timeout") are omitted.
const std::vector<Pattern>& known_patterns() {
  static const std::vector<Pattern> k_patterns{
      {Cause::out_of_memory, "CUDA out of memory"},
      {Cause::out_of_memory, "torch.cuda.OutOfMemoryError"},
      {Cause::out_of_memory, "CUDA error: out of memory"},
      {Cause::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {Cause::out_of_memory, "CUBLAS_STATUS_ALLOC_FAILED"},
      {Cause::out_of_memory, "RESOURCE_EXHAUSTED: "},
      {Cause::out_of_memory, "ResourceExhaustedError"},
      {Cause::out_of_memory, "std::bad_alloc"},
      {Cause::out_of_memory, "MemoryError"},
      {Cause::out_of_memory, "Cannot allocate memory"},
      {Cause::out_of_memory, "can't allocate memory"},
      {Cause::out_of_memory, "cannot allocate memory"},               // R and Go
      {Cause::out_of_memory, "cannot allocate vector of size"},       // R
      {Cause::out_of_memory, "memory allocation of "},                // Rust
      {Cause::out_of_memory, "fatal error: runtime: out of memory"},  // Go
      {Cause::out_of_memory, "is killed by signal: Killed"},
      {Cause::out_of_memory, "oom-kill event"},
      {Cause::out_of_memory, "insufficient shared memory (shm)"},
      {Cause::gpu_error, "uncorrectable ECC error"},
      {Cause::gpu_error, "uncorrectable NVLink error"},
      {Cause::gpu_error, "GPU is lost"},
      {Cause::gpu_error, "has fallen off the bus"},
      {Cause::gpu_error, "NVRM: Xid"},
      {Cause::gpu_error, "CUDA error: unspecified launch failure"},
      {Cause::gpu_error, "CUDA error: unknown error"},
      {Cause::gpu_error, "CUDA error: hardware error"},
      {Cause::gpu_error, "CUDA-capable device(s) is/are busy or unavailable"},
      {Cause::gpu_error, "no CUDA-capable device is detected"},
      {Cause::gpu_error, "system not yet initialized"},
      {Cause::gpu_error, "CUDA_ERROR_ECC_UNCORRECTABLE"},
      {Cause::disk_full, "No space left on device"},
      {Cause::disk_full, "Disk quota exceeded"},
      {Cause::disk_full, "File too large"},
      {Cause::storage_error, "Stale file handle"},
      {Cause::storage_error, "stale file handle"},  // Go
      {Cause::storage_error, "Input/output error"},
      {Cause::storage_error, "input/output error"},  // Go
      {Cause::storage_error, "i/o error (EIO)"},     // Julia
      {Cause::storage_error, "Remote I/O error"},
      {Cause::storage_error, "Transport endpoint is not connected: '"},  // Python, about a file
      {Cause::storage_error, "Cannot send after transport endpoint shutdown"},  // Lustre
      // A file system that its kernel has made read-only after an error, or that was remounted.
      {Cause::storage_error, "Read-only file system"},
      {Cause::storage_error, "read-only file system"},       // Go
      {Cause::storage_error, "Structure needs cleaning"},    // XFS and ext4, about their own data
      {Cause::storage_error, "Connection timed out: '"},     // Python, about a file
      {Cause::storage_error, "Host is down: '"},             // the same
      {Cause::storage_error, "Required key not available"},  // Kerberos: the ticket is gone
      {Cause::storage_error, "Key has expired"},
      {Cause::storage_error, "cannot save step-"},                 // dttrain's, if not for space
      {Cause::storage_error, "cannot read any checkpoint of "},    // dttrain's
      {Cause::corruption, "this rank's bits are wrong: "},         // dttrain's
      {Cause::damaged, "no checkpoint can be loaded: "},           // dttrain's
      {Cause::rank_killed, "Signal 9 (SIGKILL) received by PID"},  // torchrun's, about its worker
      {Cause::rank_killed, "Signal 11 (SIGSEGV) received by PID"},
      {Cause::rank_killed, "Signal 7 (SIGBUS) received by PID"},
      {Cause::rank_killed, "ActorDiedError: The actor died unexpectedly"},  // Ray
      {Cause::rank_killed, "WorkerCrashedError: The worker died unexpectedly"},
      {Cause::rendezvous, "The client socket has timed out after"},
      {Cause::rendezvous, "The server socket has failed to listen"},
      {Cause::rendezvous, "The client socket has failed to connect to"},
      {Cause::rendezvous, "DistNetworkError"},
      {Cause::rendezvous, "DistStoreError"},
      {Cause::rendezvous, "RendezvousTimeoutError"},
      {Cause::rendezvous, "RendezvousConnectionError"},
      {Cause::rendezvous, "Address already in use"},
      {Cause::rendezvous, "Failed to add port to server"},  // JAX, which then dies of SIGSEGV
      {Cause::rendezvous, "Could not start gRPC server"},   // TensorFlow
      {Cause::user_exit, k_foreign_launcher},
      {Cause::user_exit, k_unseen_gpu},
      {Cause::user_exit, k_unseen_gpus},
      {Cause::user_exit, k_no_gpu},
      {Cause::user_exit, k_no_amd_gpu},
      {Cause::rendezvous, "*** An error occurred in MPI_Init"},
      {Cause::comm_timeout, "Watchdog caught collective operation timeout"},
      {Cause::comm_timeout, "NCCL communicator was aborted"},
      {Cause::comm_timeout, "NCCL error"},
      {Cause::comm_timeout, "ncclSystemError"},
      {Cause::comm_timeout, "ncclRemoteError"},
      {Cause::comm_timeout, "ncclInternalError"},
      {Cause::comm_timeout, "gloo/transport"},
      {Cause::comm_timeout, "Application timeout caused pair closure"},
      {Cause::comm_timeout, "Connection closed by peer"},
      {Cause::comm_timeout, "Connection reset by peer"},
      {Cause::comm_timeout, "Broken pipe"},
      {Cause::comm_timeout, "Socket closed"},
      {Cause::comm_timeout, "Transport endpoint is not connected"},
      {Cause::comm_timeout, "heartbeat timeout"},
      {Cause::comm_timeout, "Shutdown barrier in coordination service has failed"},  // JAX
      {Cause::comm_timeout, "Polled an error from coordination service"},
      {Cause::comm_timeout, "the JAX distributed service detected fatal errors"},
      {Cause::comm_timeout, "Horovod has been shut down. This was caused by an exception on one"},
      {Cause::comm_timeout, "MPI_ERR_PROC_FAILED"},
      {Cause::comm_timeout, "*** An error occurred in MPI_"},
      {Cause::comm_timeout, "communication with remote MPI process"},
  };
  return k_patterns;
}

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// True for "ValueError: x", "KeyError: 3" and "error: x"; not for measures: "Validation error:
// 0.12", "Error 3.1 %", "ErrorRate".
bool names_error(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const std::string_view rest = line.substr(at + word.size());
    if (!rest.empty() && is_letter(rest[0])) continue;
    const std::size_t next = rest.find_first_not_of(" :=\t");
    const bool has_number =
        next != rest.npos && std::string_view("+-.0123456789").find(rest[next]) != rest.npos;
    const bool is_part = at > 0 && is_letter(line[at - 1]);  // of ValueError
    if (is_part || !has_number) return true;
  }
  return false;
}

}  // namespace

bool is_error(std::string_view line) {
  if (line.starts_with("[rank")) line = line.substr(std::min(line.find(": ") + 2, line.size()));
  return !line.starts_with(' ') && (names_error(line, "Error") || names_error(line, "Exception") ||
                                    names_error(line, "error:"));
}

namespace {

constexpr Cause k_order[] = {Cause::out_of_memory,
                             Cause::gpu_error,
                             Cause::disk_full,
                             Cause::storage_error,
                             Cause::corruption,
                             Cause::damaged,
                             Cause::rank_killed,
                             Cause::user_exit,
                             Cause::rendezvous,
                             Cause::comm_timeout};
constexpr std::size_t k_longest_line = 400;
constexpr std::size_t k_longest_before = 80;  // length of the text before the pattern

// The text at `at` and around it, in readable form. A progress bar overwrites its own line with
// carriage returns: only the last text on it stays visible.
std::string around(const std::string& line, std::size_t at) {
  const std::size_t overwritten = line.rfind('\r', at);
  std::size_t from = overwritten == std::string::npos ? 0 : overwritten + 1;
  const bool cut = at - from > k_longest_before;
  if (cut) from = at - k_longest_before;
  std::string_view words = std::string_view(line).substr(from);
  words = words.substr(0, words.find('\r'));
  return (cut ? "... " : "") + printable(words, k_longest_line);
}

// Programs may report such a failure and continue, for example with a second try.
bool must_be_last(Cause cause) {
  return cause == Cause::storage_error;
}

// The lines of code in tracebacks of Python, which quote a statement behind its place, and since
// 3.13 all its lines: their words are not those of the error. Where there is no code to quote, the
// error itself may follow.
std::vector<bool> quoted_code(const std::vector<std::string>& lines) {
  std::vector<bool> quoted;
  std::size_t place = std::string::npos;  // the column of the last one, whose code may go on
  for (const std::string& line : lines) {
    const std::size_t file = line.find("  File \"");
    const bool is_place = file != std::string::npos && line.find("\", line ", file) != line.npos;
    const bool is_code = !is_place && place < line.size() &&
                         std::string_view(line).substr(place).starts_with("    ");
    quoted.push_back(is_code);
    if (is_place)
      place = file;
    else if (!is_code)
      place = std::string::npos;
  }
  return quoted;
}

// The last line that shows `cause`. Where it must be the last error, only errors that it caused may
// follow: "The above exception was the direct cause of the following exception:".
std::optional<std::string> line_of(Cause cause, const std::vector<std::string>& lines) {
  bool is_followed = false;
  const std::vector<bool> is_code = quoted_code(lines);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (is_code[static_cast<std::size_t>(lines.rend() - line - 1)]) continue;
    for (const Pattern& pattern : known_patterns()) {
      if (pattern.cause != cause || is_followed) continue;
      if (const std::size_t at = line->find(pattern.words); at != std::string::npos)
        return around(*line, at);
    }
    if (must_be_last(cause))
      is_followed = (is_followed || is_error(*line)) &&
                    line->find(" the above exception") == std::string::npos &&
                    line->find("The above exception") == std::string::npos;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Evidence> read_evidence(const std::vector<std::string>& last_lines) {
  for (const Cause cause : k_order)
    if (auto line = line_of(cause, last_lines)) return Evidence{cause, *std::move(line)};
  return std::nullopt;
}

namespace {

// The number after the first occurrence of `words` after position `from`.
std::optional<long long> number_after(std::string_view text,
                                      std::string_view words,
                                      std::size_t from = 0) {
  const std::size_t at = text.find(words, from);
  if (at == std::string_view::npos) return std::nullopt;
  const char* const begin = text.data() + at + words.size();
  long long number = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<long long> read_abort(const std::vector<std::string>& last_lines) {
  const std::string text = join(last_lines, "\n");
  // Open MPI: "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 17."
  if (const std::size_t at = text.find("MPI_ABORT was invoked on rank"); at != std::string::npos)
    return number_after(text, "with errorcode ", at);
  // MPICH: "Abort(17) on node 2 (rank 2 in comm 0): application called MPI_Abort(...)"
  if (text.find("application called MPI_Abort(") != std::string::npos)
    return number_after(text, "Abort(");
  return std::nullopt;
}

bool may_be_an_abort(Cause cause) {
  return cause == Cause::rank_killed || cause == Cause::launcher_died || cause == Cause::stopped ||
         cause == Cause::signalled || cause == Cause::comm_timeout;
}

bool asks_for_unseen_gpu(std::string_view words) {
  return words.find(k_unseen_gpu) != words.npos || words.find(k_unseen_gpus) != words.npos;
}

bool misses_a_gpu(std::string_view words) {
  return asks_for_unseen_gpu(words) || words.find(k_no_gpu) != words.npos ||
         words.find(k_no_amd_gpu) != words.npos;
}

bool may_be_explained(Cause cause) {
  return cause == Cause::user_exit || cause == Cause::rank_killed;
}

bool is_launchers(Cause cause) {
  return cause == Cause::launch_failed || cause == Cause::launcher_died;
}

bool launcher_may_say(Cause cause) {
  return is_launchers(cause) || cause == Cause::user_exit || cause == Cause::rendezvous ||
         cause == Cause::comm_timeout;
}

bool may_be_secondary(Cause cause) {
  return cause == Cause::user_exit || cause == Cause::comm_timeout;
}

}  // namespace dts::run
