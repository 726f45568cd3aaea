// SPDX-License-Identifier: Apache-2.0
// Which GPUs a rank sees, by what its program's texts say.
#include "core/launch/program/gpu_view.hpp"

#include "core/base/files/files.hpp"
#include "core/launch/program/python_files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace dts;
using namespace dts::launch;

using Names = std::vector<std::string>;

// Writes files below a folder that the test removes.
struct Project {
  tests::TemporaryFolder folder;

  [[nodiscard]] std::string path(const std::string& name) const { return folder.path + "/" + name; }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    REQUIRE(write_file(path(name), text));
  }
};

plan::Plan four_gpus(const std::vector<std::string>& command) {
  plan::Plan plan;
  plan.command = command;
  plan.ntasks_per_node = 4;
  plan.gpus_per_node = 4;
  return plan;
}

}  // namespace

TEST_CASE("programs that take the GPU of their local rank are known by their text") {
  for (const char* text : {
           "local_rank = int(os.environ['LOCAL_RANK'])\ntorch.cuda.set_device(local_rank)\n",
           "device = f'cuda:{os.environ[\"LOCAL_RANK\"]}'\n",
           "args.gpu = int(os.environ['LOCAL_RANK'])\nmodel.cuda(args.gpu)\n",
           "device = 'cuda:%d' % int(os.environ['LOCAL_RANK'])\n",
           "rank = int(os.environ['LOCAL_RANK'])\nd = \"cuda:\" + str(rank)\n",
           "jax.distributed.initialize(local_device_ids=[int(os.environ['SLURM_LOCALID'])])\n",
           "tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')\n",
           "config.gpu_options.visible_device_list = str(hvd.local_rank())\n",
           "cupy.cuda.Device(int(os.environ['SLURM_LOCALID'])).use()\n",
           "d = torch.device('cuda', int(os.environ['OMPI_COMM_WORLD_LOCAL_RANK']))\n",
           "local_rank = int(os.environ.get('LOCAL_RANK', 0))\nmodel.to(local_rank)\n",
           "rank = int(os.environ['LOCAL_RANK'])\nDDP(model, device_ids=[rank])\n",
           "env = submitit.JobEnvironment()\ntorch.cuda.set_device(env.local_rank)\n",
           "args.gpu = os.environ['LOCAL_RANK']\nd = torch.device('cuda', args.gpu)\n",
           "args.gpu = int(os.environ['LOCAL_RANK'])\ntorch.cuda.set_device(args.gpu)\n",
           "local_rank = int(os.environ['LOCAL_RANK'])\ndevice = f'{device_type}:{local_rank}'\n",
           "local_rank = int(os.environ['LOCAL_RANK'])  # CUDA_VISIBLE_DEVICES\nDDP(model, "
           "device_ids=[local_rank])\n",
           "from torchtune import utils\nself._device = utils.get_device(cfg.device)\n",
           "import lightning as L\nL.Trainer(devices=16, num_nodes=2)\n",
           "import lightning as L\nL.Trainer(devices=4)\n",
           "from pytorch_lightning import Trainer\n",
           "import deepspeed\n",
           "accelerator = Accelerator()\n",
           "args = TrainingArguments(output_dir='x')\n",
       }) {
    CAPTURE(std::string(text));
    CHECK(takes_gpu_by_local_rank({"import torch\n", text}));
  }
}

TEST_CASE("programs that take the first GPU, or ask what they see, keep their own only") {
  for (const char* text : {
           "model.cuda()\n",
           "device = 'cuda:0'\n",
           "torch.cuda.set_device(0)\n",
           "if os.environ['LOCAL_RANK'] == '0': print('first')\n",
           "rank = os.environ['LOCAL_RANK']\ndevice = torch.device('cuda')\nmodel.to(device)\n",
           "print(os.environ['LOCAL_RANK'])\nx = x.cuda(non_blocking=True)\n",
           "rank = os.environ['LOCAL_RANK']\nx = f(x.to(device), rank)\n",
           "first = os.environ['LOCAL_RANK'] == '0'\ntorch.cuda.set_device(0)\nd = 'cuda:0'\n",
           // As torch.distributed.launch passed it; without that, 0 in all ranks.
           "p.add_argument('--local_rank', default=0)\ntorch.cuda.set_device(args.local_rank)\n",
           "local_rank = int(os.environ['LOCAL_RANK'])\ndevice = torch.device('cuda' if use_gpu "
           "else 'cpu')\n",
           "if os.environ['LOCAL_RANK'] == '0': log()\nmodel.to(torch.device('cuda'))\n",
           "if os.environ['LOCAL_RANK'] == '0': log()\ntorch.cuda.set_device(0)\nx.to(device)\n",
           "local_rank = int(os.environ['LOCAL_RANK'])\nd = torch.device('cuda', 0)\nx = "
           "batch_to_device(batch, device)\n",
           "local_rank = int(os.environ['LOCAL_RANK'])\nd = 'cuda:0'\nDDP(model, device_ids=[0])\n",
           "paddle.set_device('gpu')\nif local_rank == 0: log()\n",
           "tf.config.set_visible_devices(gpus[0], 'GPU')\nif hvd.local_rank() == 0: log()\n",
           "local_rank = int(os.environ['LOCAL_RANK'])\n# torch.cuda.set_device(local_rank)\n",
           "import lightning as L\nL.Trainer(accelerator='gpu', devices=1)\n",
           "from lightning import Trainer\nTrainer(devices = [0])\n",
           "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n",
           "jax.distributed.initialize()\n",
       }) {
    CAPTURE(std::string(text));
    CHECK_FALSE(takes_gpu_by_local_rank({text}));
  }
  const std::string asks = "d = 'cuda:0' if 'CUDA_VISIBLE_DEVICES' in os.environ else local_rank\n";
  CHECK_FALSE(takes_gpu_by_local_rank({"device_ids=[os.environ['LOCAL_RANK']]\n", asks}));
  CHECK(takes_gpu_by_local_rank({"device_ids=[os.environ['LOCAL_RANK']]\n"}));
  CHECK_FALSE(takes_gpu_by_local_rank({}));
}

TEST_CASE("a script numbers its GPUs only if each rank has one of several for itself") {
  const Project project;
  project.write("train.py", "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n");
  const std::string script = project.path("train.py");
  for (const Names& command : {Names{"python3", "-u", script, "--x"},
                               Names{script},
                               Names{"env", "A=b", "python3", script},
                               Names{"numactl", "-l", "python3", script}})
    CHECK(script_that_numbers_gpus(four_gpus(command)) == script);
  for (const Names& command : {Names{"python3", "-c", "set_device(local_rank)"},
                               Names{"python3", project.path("none.py")},
                               Names{"./binary"},
                               Names{}})
    CHECK(script_that_numbers_gpus(four_gpus(command)).empty());
  plan::Plan plan = four_gpus({"python3", script});
  plan.gpus_per_node = 8;  // two for each rank
  CHECK(script_that_numbers_gpus(plan).empty());
  plan.gpus_per_node = 2;  // shared
  CHECK(script_that_numbers_gpus(plan).empty());
  plan.gpus_per_node = 1;
  plan.ntasks_per_node = 1;
  CHECK(script_that_numbers_gpus(plan).empty());
  plan = four_gpus({"python3", script});
  plan.frameworks = {"jax"};  // no LOCAL_RANK
  CHECK(script_that_numbers_gpus(plan).empty());
  plan = four_gpus({"python3", script});
  plan.workers_per_task = 4;  // torchrun's own processes
  CHECK(script_that_numbers_gpus(plan).empty());
}

TEST_CASE("import statements name modules") {
  CHECK(imported_modules("import a\nimport b.c as d, e  # f\n  import g") ==
        Names{"a", "b.c", "e", "g"});
  CHECK(imported_modules("from a import b, c as d\nfrom .e import f\nfrom . import g\n") ==
        Names{"a", "a.b", "a.c", ".e", ".e.f", ".", ".g"});
  CHECK(imported_modules("from a import (  # x\n    b,\n    c,  # import z\n)\nimport d\n") ==
        Names{"a", "a.b", "a.c", "d"});
  CHECK(imported_modules("from a import b, \\\n    c\r\nimport d\r\n") ==
        Names{"a", "a.b", "a.c", "d"});
  CHECK(imported_modules("important = 1\nimports()\nx = 'import y'\nfrom nowhere\n").empty());
  CHECK(imported_modules("from a import (").size() == 1);
  CHECK(imported_modules("import ").empty());
  CHECK(imported_modules("from a import b\\") == Names{"a", "a.b"});
}

TEST_CASE("modules beside a script are read with it, each once, wherever they import each other") {
  const Project project;
  project.write("train.py", "import torch\nfrom util import misc\nimport models.net\n");
  project.write("util/misc.py", "# misc\nfrom . import dist\nimport train\n");
  project.write("util/dist.py", "# dist\nfrom ..models import net\n");
  project.write("models/__init__.py", "# models\n");
  project.write("models/net.py", "# net\n");
  project.write("other.py", "# other\n");
  Names found;
  for (const std::string& text : python_texts(project.path("train.py")))
    found.push_back(text.substr(0, text.find('\n')));
  CHECK(found == Names{"import torch", "# misc", "# models", "# net", "# dist"});
  CHECK(python_texts(project.path("none.py")).empty());
  project.write("util/dist.py", "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n");
  const std::string script = project.path("train.py");
  CHECK(script_that_numbers_gpus(four_gpus({"python3", script})) == script);
}
