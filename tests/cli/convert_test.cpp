// SPDX-License-Identifier: Apache-2.0
// dtsubmit convert as users and programs use it.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace dts;
using namespace dts::tests;

namespace {

constexpr const char* k_convertible =
    "#!/bin/bash\n"
    "#SBATCH --job-name=train\n"
    "#SBATCH --nodes=2\n"
    "#SBATCH --ntasks-per-node=8\n"
    "#SBATCH --cpus-per-task=12\n"
    "#SBATCH --gres=gpu:8\n"
    "#SBATCH --time=24:00:00\n"
    "\n"
    "module load cuda/12.4\n"
    "export MASTER_ADDR=$(hostname)\n"
    "export HF_HOME=/scratch/hf\n"
    "srun python train.py --lr $1 2>&1 | tee train.log\n"
    "echo done\n";

class ConvertSession : public Session {
 public:
  ConvertSession() { REQUIRE(write_file(file("job.sh"), k_convertible, 0755)); }
};

}  // namespace

TEST_CASE("a script becomes a job file on standard output, with the account on standard error") {
  const ConvertSession session;
  const Output made = session.dtsubmit({"convert", "job.sh", "--", "0.1"});
  CHECK(made.exit_code == 0);
  check_golden("convert.toml", made.out);
  check_golden("convert.txt", made.err);
}

TEST_CASE("-o writes a file that dtsubmit accepts, and never over another one") {
  const ConvertSession session;
  CHECK(session.dtsubmit({"convert", "job.sh", "-o", "job.toml"}).exit_code == 0);
  CHECK(session.dtsubmit({"render", "job.toml"}).exit_code == 0);
  const Output again = session.dtsubmit({"convert", "job.sh", "-o", "job.toml"});
  CHECK(again.exit_code == 3);
  CHECK(again.err.find("--force") != std::string::npos);
  CHECK(session.dtsubmit({"convert", "job.sh", "-o", "job.toml", "--force"}).exit_code == 0);
  CHECK(session.dtsubmit({"convert", "job.sh", "-o", "job.sh.txt"}).exit_code == 2);
}

TEST_CASE("tokens are in no account, and in a job file that only its owner can read") {
  const ConvertSession session;
  const std::string token = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH";
  const std::string key = "0123456789abcdef0123456789abcdef01234567";
  REQUIRE(write_file(session.file("login.sh"),
                     "#!/bin/bash\n#SBATCH --ntasks=2\nexport HF_TOKEN=" + token +
                         "\nwandb login " + key +
                         "\nhuggingface-cli login --add-to-git-credential --token " + token +
                         "\nsrun python train.py\n",
                     0755));
  const Output made = session.dtsubmit({"convert", "login.sh", "-o", "login.toml"});
  CHECK(made.exit_code == 0);
  CHECK(made.err.find("login.sh:4: set-up: wandb login ***\n") != std::string::npos);
  CHECK(made.err.find("login.sh:3: warning: a token of Hugging Face") != std::string::npos);
  CHECK(made.err.find("login.sh:4: warning: a key of Weights & Biases") != std::string::npos);
  CHECK(made.err.find("abcdef") == std::string::npos);
  CHECK(read_file(session.file("login.toml"))->find(key) != std::string::npos);
  using std::filesystem::perms;
  const auto mode = [&](const char* name) {
    return std::filesystem::status(session.file(name)).permissions();
  };
  CHECK(mode("login.toml") == (perms::owner_read | perms::owner_write));
  CHECK(session.dtsubmit({"convert", "job.sh", "-o", "job.toml"}).exit_code == 0);
  CHECK(mode("job.toml") != mode("login.toml"));
}

TEST_CASE("what is lost is exit code 1, and the document says it to programs") {
  const ConvertSession session;
  REQUIRE(write_file(session.file("lossy.sh"), "#!/bin/bash\n#SBATCH --bogus\nsrun prog\n", 0755));
  const Output made = session.dtsubmit({"convert", "--json", "lossy.sh"});
  CHECK(made.exit_code == 1);
  const auto document = nlohmann::json::parse(made.out);
  CHECK(document["schema"] == "dtsubmit/convert/1");
  CHECK(document["lossless"] == false);
  CHECK(document["lines"][0]["became"] == "lost");
  CHECK(document["lines"][0]["places"][0]["line"] == 2);
  const auto job_file = document["job_file"].get<std::string>();
  CHECK(job_file.find("prog") != std::string::npos);
  CHECK(job_file.starts_with("# Not everything in lossy.sh was converted."));
}

TEST_CASE("where something is lost, the job file is written, says so and is accepted") {
  const ConvertSession session;
  REQUIRE(write_file(session.file("lossy.sh"),
                     "#!/bin/bash\nexport A=1\nsbatch next.sh\nsrun python train.py\n",
                     0755));
  const Output made = session.dtsubmit({"convert", "lossy.sh", "-o", "lossy.toml"});
  CHECK(made.exit_code == 1);
  CHECK(contains(made.err, "check what is lost, then: dtsubmit lossy.toml"));
  const auto job_file = read_file(session.file("lossy.toml"));
  REQUIRE(job_file);
  CHECK(contains(*job_file, "# line 3: sbatch next.sh: submits another job"));
  CHECK(session.dtsubmit({"render", "lossy.toml"}).exit_code == 0);
}

TEST_CASE("$(pwd) in a mount is the folder, whatever PWD a caller left in the environment") {
  const ConvertSession session;
  REQUIRE(write_file(session.file("mount.sh"),
                     "#!/bin/bash\nsrun --container-image=/i.sqsh "
                     "--container-mounts=$(pwd):/w python a.py\n",
                     0755));
  const std::string folder = std::filesystem::path(session.file("x")).parent_path().string();
  CHECK(session.dtsubmit({"convert", "mount.sh"}).out.find(folder + ":/w") != std::string::npos);
}

TEST_CASE("without a program that is left there is no job file") {
  const ConvertSession session;
  REQUIRE(write_file(session.file("none.sh"), "#!/bin/bash\nsbatch next.sh\n", 0755));
  CHECK(session.dtsubmit({"convert", "none.sh", "-o", "none.toml"}).exit_code == 1);
  CHECK_FALSE(exists(session.file("none.toml")));
}

TEST_CASE("blanks of a script are counted, and are comments in the job file") {
  const ConvertSession session;
  REQUIRE(write_file(
      session.file("template.sh"), "#!/bin/bash\n#SBATCH --nodes=<nodes>\nsrun prog\n", 0755));
  const Output made = session.dtsubmit({"convert", "template.sh"});
  CHECK(made.exit_code == 0);
  CHECK(made.out.starts_with("# Fill in what the script leaves open:\n# nodes = \"<nodes>\"\n"));
  CHECK(made.err.find("template.sh:2: fill-in: --nodes=<nodes>") != std::string::npos);
  CHECK(made.err.find("nothing is lost, but blanks must be filled in") != std::string::npos);
}

TEST_CASE("files that are no scripts are refused") {
  const ConvertSession session;
  CHECK(session.dtsubmit({"convert", "absent.sh"}).exit_code == 6);
  CHECK(session.dtsubmit({"convert", "."}).exit_code == 3);
  CHECK(session.dtsubmit({"convert"}).exit_code == 2);
}
