// SPDX-License-Identifier: Apache-2.0
// dtsubmit convert as people and programs meet it.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

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
  CHECK(document["job_file"].get<std::string>().find("prog") != std::string::npos);
}

TEST_CASE("blanks of a script are counted, and are comments in the job file") {
  const ConvertSession session;
  REQUIRE(write_file(
      session.file("template.sh"), "#!/bin/bash\n#SBATCH --nodes=<nodes>\nsrun prog\n", 0755));
  const Output made = session.dtsubmit({"convert", "template.sh"});
  CHECK(made.exit_code == 0);
  CHECK(made.out.starts_with("# Fill in what the script leaves open:\n# nodes = \"<nodes>\"\n"));
  CHECK(made.err.find("template.sh:2: fill-in: --nodes=<nodes>") != std::string::npos);
  CHECK(made.err.find("nothing is lost, but blanks are to be filled in") != std::string::npos);
}

TEST_CASE("files that are no scripts are refused as ever") {
  const ConvertSession session;
  CHECK(session.dtsubmit({"convert", "absent.sh"}).exit_code == 6);
  CHECK(session.dtsubmit({"convert", "."}).exit_code == 3);
  CHECK(session.dtsubmit({"convert"}).exit_code == 2);
}
