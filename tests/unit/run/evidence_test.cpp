// SPDX-License-Identifier: Apache-2.0
// Real messages of real failures, and the cause each shows.
#include "core/run/summary/evidence.hpp"

#include <doctest/doctest.h>

#include <set>

namespace {

using namespace dts::run;

struct Message {
  Cause cause;
  const char* line;
};

const std::vector<Message> k_messages{
    {Cause::out_of_memory,
     "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.10 GiB total"},
    {Cause::out_of_memory, "torch.cuda.OutOfMemoryError: CUDA ran out"},
    {Cause::out_of_memory, "RuntimeError: CUDA error: out of memory"},
    {Cause::out_of_memory,
     "failed to allocate 1.50G (1610612736 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of "
     "memory"},
    {Cause::out_of_memory,
     "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"},
    {Cause::out_of_memory,
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
     "allocate"},
    {Cause::out_of_memory,
     "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor"},
    {Cause::out_of_memory, "terminate called after throwing an instance of 'std::bad_alloc'"},
    {Cause::out_of_memory, "MemoryError"},
    {Cause::out_of_memory, "Error: cannot allocate vector of size 29.8 Gb"},
    {Cause::out_of_memory, "memory allocation of 320000000000 bytes failed"},
    {Cause::out_of_memory, "fatal error: runtime: out of memory"},
    {Cause::out_of_memory, "runtime: cannot allocate memory: OS thread stack"},
    {Cause::out_of_memory, "OSError: [Errno 12] Cannot allocate memory"},
    {Cause::out_of_memory,
     "RuntimeError: [enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: can't allocate memory: "
     "you tried to allocate 400 bytes"},
    {Cause::out_of_memory, "RuntimeError: DataLoader worker (pid 71) is killed by signal: Killed."},
    {Cause::out_of_memory, "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.0"},
    {Cause::out_of_memory,
     "It is possible that dataloader's workers are out of shared memory: insufficient shared "
     "memory (shm)"},
    {Cause::gpu_error, "RuntimeError: CUDA error: uncorrectable ECC error encountered"},
    {Cause::gpu_error,
     "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution"},
    {Cause::gpu_error, "Unable to determine the device handle for GPU 0000:65:00.0: GPU is lost."},
    {Cause::gpu_error, "NVRM: GPU at PCI:0000:65:00: has fallen off the bus"},
    {Cause::gpu_error, "[ 1234.5] NVRM: Xid (PCI:0000:65:00): 79, pid=1234"},
    {Cause::gpu_error, "RuntimeError: CUDA error: unspecified launch failure"},
    {Cause::gpu_error, "RuntimeError: CUDA error: unknown error"},
    {Cause::gpu_error, "RuntimeError: CUDA error: hardware error"},
    {Cause::gpu_error,
     "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable"},
    {Cause::gpu_error, "RuntimeError: No CUDA GPUs: no CUDA-capable device is detected"},
    {Cause::gpu_error, "Error 802: system not yet initialized"},
    {Cause::gpu_error, "CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable"},
    {Cause::corruption,
     "dttrain: rank 2: this rank's bits are wrong: after step 6 the weights of fc1.weight (chunk "
     "9) "
     "are not what their owner had computed (node n3)"},
    {Cause::damaged,
     "dttrain: error: no checkpoint can be loaded: all 3 in /runs/a/checkpoints are damaged"},
    {Cause::disk_full, "OSError: [Errno 28] No space left on device"},
    {Cause::disk_full, "OSError: [Errno 122] Disk quota exceeded: '/home/u/ckpt'"},
    {Cause::disk_full, "OSError: [Errno 27] File too large"},
    {Cause::storage_error, "OSError: [Errno 116] Stale file handle: '/scratch/u/ckpt'"},
    {Cause::storage_error, "panic: read /scratch/shard: stale file handle"},
    {Cause::storage_error, "OSError: [Errno 5] Input/output error"},
    {Cause::storage_error, "2026/01/02 read /scratch/shard: input/output error"},
    {Cause::storage_error, "ERROR: LoadError: IOError: read: i/o error (EIO)"},
    {Cause::storage_error, "cp: error reading 'shard': Remote I/O error"},
    {Cause::storage_error, "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/s3'"},
    {Cause::storage_error, "OSError: [Errno 108] Cannot send after transport endpoint shutdown"},
    {Cause::storage_error, "OSError: [Errno 30] Read-only file system: '/scratch/u/ckpt.pt'"},
    {Cause::storage_error, "panic: open /scratch/u/out: read-only file system"},
    {Cause::storage_error, "OSError: [Errno 117] Structure needs cleaning: '/scratch/u/ckpt.pt'"},
    {Cause::storage_error, "TimeoutError: [Errno 110] Connection timed out: '/nfs/shard-3.tar'"},
    {Cause::storage_error, "OSError: [Errno 112] Host is down: '/nfs/shard-3.tar'"},
    {Cause::storage_error, "OSError: [Errno 126] Required key not available: '/afs/u/ckpt.pt'"},
    {Cause::storage_error, "OSError: [Errno 127] Key has expired: '/nfs/u/ckpt.pt'"},
    {Cause::storage_error,
     "dttrain: rank 0: cannot save step-000000020: cannot write /runs/a/state.safetensors: "
     "Connection timed out"},
    {Cause::storage_error,
     "dttrain: rank 0: cannot read any checkpoint of /runs/a/checkpoints now: step-000000020: ..."},
    {Cause::rank_killed, "  traceback : Signal 9 (SIGKILL) received by PID 4711"},
    {Cause::rank_killed, "  traceback : Signal 11 (SIGSEGV) received by PID 4711"},
    {Cause::rank_killed, "  traceback : Signal 7 (SIGBUS) received by PID 4711"},
    {Cause::rank_killed,
     "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."},
    {Cause::rank_killed,
     "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task."},
    {Cause::rendezvous,
     "RuntimeError: The client socket has timed out after 300s while trying to connect to (n1, "
     "29500)."},
    {Cause::rendezvous,
     "RuntimeError: The server socket has failed to listen on any local network address."},
    {Cause::rendezvous,
     "RuntimeError: The client socket has failed to connect to any network address of (n1, "
     "29500)."},
    {Cause::rendezvous, "torch.distributed.DistNetworkError: connection lost"},
    {Cause::rendezvous,
     "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 15/16 "
     "clients joined."},
    {Cause::rendezvous, "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"},
    {Cause::rendezvous,
     "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the "
     "C10d store has failed."},
    {Cause::rendezvous, "OSError: [Errno 98] Address already in use"},
    {Cause::rendezvous,
     "E1129 02:03:16.256265    5361 add_port.cc:83] Failed to add port to server: No address added "
     "out of total 1 resolved for '[::]:45678'"},
    {Cause::rendezvous,
     "tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server"},
    {Cause::comm_timeout,
     "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=31, OpType=ALLREDUCE"},
    {Cause::comm_timeout, "RuntimeError: NCCL communicator was aborted on rank 3."},
    {Cause::comm_timeout, "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1269, internal error"},
    {Cause::comm_timeout,
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed"},
    {Cause::comm_timeout, "ncclRemoteError: A call failed possibly due to a network error"},
    {Cause::comm_timeout, "ncclInternalError: Internal check failed."},
    {Cause::comm_timeout,
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:84] Timed out "
     "waiting 1800000ms for recv"},
    {Cause::comm_timeout, "RuntimeError: Application timeout caused pair closure"},
    {Cause::comm_timeout, "Connection closed by peer [10.0.0.2]:41234"},
    {Cause::comm_timeout, "ConnectionResetError: [Errno 104] Connection reset by peer"},
    {Cause::comm_timeout,
     "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was caused "
     "by an exception on one of the ranks or an attempt to allreduce"},
    {Cause::comm_timeout, "BrokenPipeError: [Errno 32] Broken pipe"},
    {Cause::comm_timeout, "UNAVAILABLE: Socket closed"},
    {Cause::comm_timeout, "OSError: [Errno 107] Transport endpoint is not connected"},
    {Cause::comm_timeout,
     "The following tasks are unhealthy (stopped sending heartbeats): heartbeat timeout"},
    {Cause::comm_timeout,
     "E1129 01:10:11.933755   22440 coordination_service.cc:1520] Shutdown "
     "barrier in coordination service has failed:"},
    {Cause::comm_timeout,
     "E1129 01:10:11.934170   22438 coordination_service_agent.cc:289] Polled an error from "
     "coordination service (this can be an error from this or another task)."},
    {Cause::comm_timeout,
     "F1129 01:10:11.934329   22438 client.h:80] Terminating process because the JAX distributed "
     "service detected fatal errors. This most likely indicates that another task died;"},
    {Cause::user_exit, "but OMPI was not built with SLURM's PMI support and therefore cannot"},
    {Cause::user_exit, "RuntimeError: CUDA error: invalid device ordinal"},
    {Cause::user_exit, " But your machine only has: [0]"},
    {Cause::user_exit, "RuntimeError: No CUDA GPUs are available"},
    {Cause::user_exit, "RuntimeError: No HIP GPUs are available"},
    {Cause::rendezvous, "[n1:00042] *** An error occurred in MPI_Init"},
    {Cause::comm_timeout, "[n1:00042] *** An error occurred in MPI_Sendrecv"},
    {Cause::comm_timeout, "MPI_ERR_PROC_FAILED: Process Failure"},
    {Cause::comm_timeout, "ORTE has lost communication with remote MPI process"},
};

// Said where all is well, or by a bug of the program: no evidence of anything else.
const std::vector<const char*> k_innocent{
    "",
    "setting the timeout to 1800 s",
    "memory: 12 GiB of 80 GiB in use",
    "ValueError: shapes (3,) and (4,) not aligned",
    "RuntimeError: CUDA error: device-side assert triggered",
    "AssertionError: loss is nan",
    "listening on 0.0.0.0:29500",
    "ModuleNotFoundError: No module named 'trainer'",
    "GPU 0 is used for training",
    "ray.exceptions.ActorDiedError: The actor died because of an error raised in its creation task",
    "ray.exceptions.RayTaskError(ValueError): ray::W.step() (pid=1, ip=10.0.0.1)",
};

}  // namespace

TEST_CASE("each message shows its cause, whatever ordinary lines surround it") {
  for (const Message& message : k_messages) {
    CAPTURE(message.line);
    const auto found = read_evidence({"step 12 loss 0.5", message.line, "Aborted"});
    REQUIRE(found);
    CHECK(to_string(found->cause) == std::string(to_string(message.cause)));
    CHECK(found->line == std::string(message.line).substr(0, 200));
  }
}

TEST_CASE("an Open MPI that cannot ask the launcher for its rank fails so on every node") {
  const auto found =
      read_evidence({"The application appears to have been direct launched using \"srun\",",
                     "but OMPI was not built with SLURM's PMI support and therefore cannot",
                     "*** An error occurred in MPI_Init_thread"});
  REQUIRE(found);
  CHECK(found->cause == Cause::user_exit);
}

TEST_CASE("every pattern is needed by a message of the table") {
  for (const Pattern& pattern : known_patterns()) {
    CAPTURE(pattern.words);
    bool needed = false;
    for (const Message& message : k_messages)
      needed =
          needed || std::string_view(message.line).find(pattern.words) != std::string_view::npos;
    CHECK(needed);
  }
}

TEST_CASE("ordinary lines and a program's own bugs show nothing") {
  for (const char* line : k_innocent) {
    CAPTURE(line);
    CHECK_FALSE(read_evidence({line}));
  }
  CHECK_FALSE(read_evidence({}));
}

TEST_CASE("the code that a traceback quotes shows nothing, and the error after it does") {
  for (const std::string rank : {"", "[rank1]: "}) {
    const std::string place = rank + "  File \"a.py\", line 7, in train";
    const std::string code = rank + "    if \"CUDA out of memory\" in str(error): raise";
    CHECK(!read_evidence({place, code, rank + "ValueError: my own bug"}));
    CHECK(read_evidence({place, code, rank + "OSError: [Errno 28] No space left on device"}));
    CHECK(read_evidence({place, rank + "MemoryError"}));  // without code, as in a frozen module
    const std::vector<std::string> statement{rank + "    check(",
                                             rank + "    ~~~~~^",
                                             rank + "        \"CUDA out of memory\" not in log,",
                                             rank + "    )"};
    std::vector<std::string> lines{place};
    lines.insert(lines.end(), statement.begin(), statement.end());
    lines.push_back(rank + "AssertionError: the log is wrong");
    CHECK(!read_evidence(lines));
    lines.back() = rank + "OSError: [Errno 28] No space left on device";
    CHECK(read_evidence(lines));
  }
}

TEST_CASE("a failure of a file system counts only as the last error, or as what caused it") {
  const char* const stale = "OSError: [Errno 116] Stale file handle: '/scratch/u/data'";
  const char* const at = "Traceback (most recent call last):";

  struct Case {
    std::vector<std::string> lines;
    bool counts;
  };

  const std::vector<Case> cases{
      {{at, "  File \"a.py\", line 3", stale}, true},
      {{stale, "step 17 loss 0.4", "closing the log"}, true},
      {{"[rank3]: " + std::string(stale), "[rank3]:     raise ValueError('no Error')"}, true},
      {{stale, "trying again", at, "ValueError: shapes (3,) and (4,) not aligned"}, false},
      {{stale, "trying again", "[rank3]: ValueError: shapes (3,) and (4,) not aligned"}, false},
      {{stale, "trying again", "main.c:3: error: no such option"}, false},
      {{stale,
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        at,
        "RuntimeError: could not save"},
       true},
      {{stale,
        "During handling of the above exception, another exception occurred:",
        at,
        "KeyError: 'fallback'"},
       true},
      {{stale, at, "KeyError: 'x'", "During handling of the above exception, another", "E: Error"},
       false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.lines.back());
    const auto found = read_evidence(one.lines);
    CHECK((found && found->cause == Cause::storage_error) == one.counts);
  }
}

TEST_CASE("a rank that ran out of memory and then lost its peers ran out of memory") {
  const auto found = read_evidence({"RuntimeError: CUDA out of memory. Tried to allocate",
                                    "ConnectionResetError: [Errno 104] Connection reset by peer"});
  REQUIRE(found);
  CHECK(found->cause == Cause::out_of_memory);
}

TEST_CASE("the line that shows a cause is readable, however long and coloured it is") {
  const std::string colours = "\x1b[31mRuntimeError: CUDA out of memory\x1b[0m";
  const auto found = read_evidence({colours});
  REQUIRE(found);
  CHECK(found->line == "\\x1b[31mRuntimeError: CUDA out of memory\\x1b[0m");

  const auto binary =
      read_evidence({std::string(8000, '\x01') + "MemoryError" + std::string(8000, '\xff')});
  REQUIRE(binary);
  CHECK(binary->line.size() < 450);

  const auto far = read_evidence({std::string(9000, 'x') + "No space left on device"});
  REQUIRE(far);
  CHECK(far->line.starts_with("... xxx"));
  CHECK(far->line.ends_with("No space left on device"));

  const auto bar = read_evidence({"10 %|#  |\r20 %|## |\rMemoryError: no\r\x1b[K"});
  REQUIRE(bar);
  CHECK(bar->line == "MemoryError: no");
}
