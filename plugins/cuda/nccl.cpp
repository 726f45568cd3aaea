// SPDX-License-Identifier: Apache-2.0
// The module's exchange between processes: NCCL's sends and receives on the context's stream. NCCL
// is loaded when it is needed, so that the module works without it. The communicator is
// non-blocking: progress() asks for the state of what was begun.
#include "plugins/cuda/context.hpp"

#include <dlfcn.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace {

constexpr const char* k_library = "libnccl.so.2";
constexpr int k_least = NCCL_VERSION(2, 14, 0);    // the first with non-blocking communicators
constexpr int k_sharing = NCCL_VERSION(2, 30, 0);  // the first with several ranks on one device

// NCCL's functions.
struct Functions {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init = nullptr;
  decltype(&ncclCommGetAsyncError) get_error = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  int version = 0;
  std::string path;
  std::string wrong;  // the reason why NCCL cannot be used; or empty
};

std::string text_of(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

template <class Function>
bool load(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(::dlsym(library, name));
  return to != nullptr;
}

Functions find_functions() {
  Functions made;
  void* const library = ::dlopen(k_library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    made.wrong = ::dlerror();
    return made;
  }
  if (!load(library, "ncclGetVersion", made.get_version) ||
      made.get_version(&made.version) != ncclSuccess) {
    made.wrong = std::string(k_library) + " does not say its version";
    return made;
  }
  Dl_info info{};
  made.path =
      ::dladdr(reinterpret_cast<void*>(made.get_version), &info) != 0 ? info.dli_fname : k_library;
  const bool is_whole =
      load(library, "ncclGetUniqueId", made.get_unique_id) &&
      load(library, "ncclCommInitRankConfig", made.init) &&
      load(library, "ncclCommGetAsyncError", made.get_error) &&
      load(library, "ncclGetErrorString", made.error_string) &&
      load(library, "ncclGetLastError", made.last_error) &&
      load(library, "ncclGroupStart", made.group_start) &&
      load(library, "ncclGroupEnd", made.group_end) && load(library, "ncclSend", made.send) &&
      load(library, "ncclRecv", made.receive) && load(library, "ncclCommFinalize", made.finalize) &&
      load(library, "ncclCommDestroy", made.destroy) && load(library, "ncclCommAbort", made.abort);
  if (made.version < k_least || !is_whole)
    made.wrong = made.path + " is NCCL " + text_of(made.version) + ", " + text_of(k_least) +
                 " or later is needed";
  return made;
}

const Functions& nccl() {
  static const Functions made = find_functions();
  return made;
}

}  // namespace

class CudaLink {
 public:
  explicit CudaLink(dttrain_context& context) : context_(context) {}

  CudaLink(const CudaLink&) = delete;
  CudaLink& operator=(const CudaLink&) = delete;

  ~CudaLink() {
    abort();
    for (const cudaEvent_t event : events_) (void)cudaEventDestroy(event);
  }

  const char* join(const unsigned char* id, int ranks, int rank, bool shares) {
    // Required by releases of NCCL that support this; others refuse by themselves.
    if (shares) ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
    ncclUniqueId unique;
    std::memcpy(unique.internal, id, sizeof unique.internal);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return check(nccl().init(&link_, ranks, unique, rank, &config), "ncclCommInitRankConfig");
  }

  const char* post(const dttrain_message* messages, size_t count) {
    if (const char* const wrong = check(nccl().group_start(), "ncclGroupStart")) return wrong;
    const char* wrong = nullptr;
    for (const dttrain_message* one = messages; one < messages + count && wrong == nullptr; ++one) {
      const ncclResult_t result =
          one->is_sent != 0
              ? nccl().send(one->at, one->bytes, ncclChar, one->peer, link_, context_.stream)
              : nccl().receive(one->at, one->bytes, ncclChar, one->peer, link_, context_.stream);
      wrong = check(result, one->is_sent != 0 ? "ncclSend" : "ncclRecv");
    }
    // Even after an error: while a group is open, NCCL would defer the abort, too.
    const ncclResult_t ended = nccl().group_end();
    if (wrong != nullptr) return wrong;
    is_posting_ = true;
    return check(ended, "ncclGroupEnd");
  }

  const char* progress(dttrain_progress& now) {
    ncclResult_t state = ncclSuccess;
    if (link_ != nullptr) {
      if (const char* const wrong = check(nccl().get_error(link_, &state), "ncclCommGetAsyncError"))
        return wrong;
      if (const char* const wrong = check(state, "NCCL")) return wrong;
    }
    now.is_idle = state != ncclInProgress ? 1 : 0;
    if (now.is_idle != 0)
      if (const char* const wrong = end_phase()) return wrong;
    for (; !events_.empty(); events_.pop_front(), ++ended_) {
      const cudaError_t status = cudaEventQuery(events_.front());
      if (status == cudaErrorNotReady) break;
      if (const char* const wrong = context_.check(status, "cudaEventQuery")) return wrong;
      (void)cudaEventDestroy(events_.front());
    }
    now.ended = ended_;
    return nullptr;
  }

  const char* leave() {
    if (link_ == nullptr) return nullptr;
    is_leaving_ = true;
    return check(nccl().finalize(link_), "ncclCommFinalize");
  }

  void abort() {
    if (link_ == nullptr) return;
    (void)cudaSetDevice(context_.device);  // for the calling thread
    (void)nccl().abort(std::exchange(link_, nullptr));
  }

 private:
  // Does what must wait until NCCL has enqueued a group or ended the link.
  const char* end_phase() {
    if (std::exchange(is_leaving_, false))
      return check(nccl().destroy(std::exchange(link_, nullptr)), "ncclCommDestroy");
    if (!std::exchange(is_posting_, false)) return nullptr;
    cudaEvent_t event = nullptr;
    if (const char* const wrong = context_.check(
            cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags"))
      return wrong;
    events_.push_back(event);
    return context_.check(cudaEventRecord(event, context_.stream), "cudaEventRecord");
  }

  const char* check(ncclResult_t result, const char* what) {
    if (result == ncclSuccess || result == ncclInProgress) return nullptr;
    const char* const last = nccl().last_error(link_);
    context_.wrong = std::string(what) + ": " + nccl().error_string(result) +
                     (last == nullptr || *last == '\0' ? "" : ": " + std::string(last));
    return context_.wrong.c_str();
  }

  dttrain_context& context_;
  ncclComm_t link_ = nullptr;
  bool is_posting_ = false;  // a group is not in the stream yet
  bool is_leaving_ = false;
  std::deque<cudaEvent_t> events_;  // one behind each group that has not ended
  uint64_t ended_ = 0;
};

namespace {

const char* find(dttrain_context* context, dttrain_link_facts* facts) {
  const Functions& all = nccl();
  if (!all.wrong.empty()) {
    context->wrong = all.wrong;
    return context->wrong.c_str();
  }
  *facts = {};
  const std::string library = "NCCL " + text_of(all.version);
  library.copy(facts->library, sizeof facts->library - 1);
  all.path.copy(facts->path, sizeof facts->path - 1);
  facts->shares_devices = all.version >= k_sharing ? 1 : 0;
  return nullptr;
}

const char* make_id(dttrain_context* context, unsigned char* id) {
  static_assert(sizeof(ncclUniqueId) == DTTRAIN_LINK_ID_BYTES);
  ncclUniqueId made;
  if (const ncclResult_t result = nccl().get_unique_id(&made); result != ncclSuccess) {
    context->wrong = std::string("ncclGetUniqueId: ") + nccl().error_string(result);
    return context->wrong.c_str();
  }
  std::memcpy(id, made.internal, sizeof made.internal);
  return nullptr;
}

const char* join(
    dttrain_context* context, const unsigned char* id, int ranks, int rank, int shares) {
  context->link = std::make_shared<CudaLink>(*context);
  return context->link->join(id, ranks, rank, shares != 0);
}

const char* post(dttrain_context* context, const dttrain_message* messages, size_t count) {
  return context->link->post(messages, count);
}

const char* progress(dttrain_context* context, dttrain_progress* now) {
  return context->link->progress(*now);
}

const char* leave(dttrain_context* context) {
  return context->link->leave();
}

void abort(dttrain_context* context) {
  if (context->link != nullptr) context->link->abort();
}

}  // namespace

const dttrain_exchange* cuda_exchange() {
  static const dttrain_exchange table{find, make_id, join, post, progress, leave, abort};
  return &table;
}
