// SPDX-License-Identifier: Apache-2.0
// The command line and environment of dttrain.
#include "core/train/options/options.hpp"

#include "core/base/files/files.hpp"
#include "core/train/timing/tuner.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace dts;
using namespace dts::train;

namespace {

const char* nothing(const char* /*name*/) {
  return nullptr;
}

std::string error_of(const std::vector<std::string>& arguments) {
  const auto options = parse_options(arguments, nothing);
  if (options) return "";
  CHECK(options.error().code == Errc::usage);
  return options.error().message;
}

}  // namespace

TEST_CASE("a file of options is overridden by the command line, and overrides the environment") {
  const dts::tests::TemporaryFolder folder;
  const std::string file = folder.path + "/train.json";
  const auto error_with = [&](const std::string& text, const std::vector<std::string>& more) {
    REQUIRE(write_file(file, text));
    std::vector<std::string> arguments{"--config", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return error_of(arguments);
  };
  REQUIRE(write_file(file, R"({"steps": 12, "lr": 0.25, "model": "mlp", "batch": "64"})"));
  const auto options = parse_options({"--lr", "0.5", "--config=" + file}, [](const char* name) {
    return std::strcmp(name, "OMP_NUM_THREADS") == 0 ? "3" : nullptr;
  });
  REQUIRE(options);
  CHECK(options->steps == 12);
  CHECK(options->lr == doctest::Approx(0.5));
  CHECK(options->batch == 64);
  CHECK(options->model->name == "mlp");
  CHECK(options->threads == 3);
  SUBCASE("all that is wrong is named") {
    CHECK(error_with(R"({"stpes": 1, "lr": true, "config": "x", "seed": 2})", {}) ==
          "3 problems:\n" + file + ": 'stpes' is not an option\n  help: did you mean steps?\n" +
              file + ": 'lr' must be a string or a number\n" + file +
              ": 'config' cannot be in a file of options");
    const std::string values = error_with(R"({"steps": -1, "schedule": "round"})", {});
    CHECK(values.find(file + ": --steps: '-1' is not valid") != std::string::npos);
    CHECK(values.find(file + ": --schedule: 'round' is not valid") != std::string::npos);
  }
  SUBCASE("what is not JSON is named with its place") {
    const std::string said = error_with("{\"steps\": 1,\n  \"lr\" 2}", {});
    CHECK(said.starts_with(file + ":2:8: this is not JSON\n    |   \"lr\" 2}\n    |        ^"));
    CHECK(error_with("[1]", {}) == file + ": not a JSON object");
    CHECK(error_with(R"({"lr": 1e400})", {}) == file + ": a number is too large");
    CHECK(error_with("", {}).starts_with(file + ":1:1: this is not JSON"));
  }
  SUBCASE("and a file that is not there") {
    const auto absent = parse_options({"--config", folder.path + "/none.json"}, nothing);
    REQUIRE(!absent);
    CHECK(absent.error().code == Errc::not_found);
  }
}

TEST_CASE("options are read in both spellings and override the environment") {
  const auto environment = [](const char* name) -> const char* {
    if (std::strcmp(name, "DTSUBMIT_ATTEMPT") == 0) return "4";
    if (std::strcmp(name, "DTSUBMIT_RUN_DIR") == 0) return "/runs/a";
    return std::strcmp(name, "OMP_NUM_THREADS") == 0 ? "3" : nullptr;
  };
  const auto options = parse_options(
      {"--steps", "12", "--lr=0.25", "--run-dir", "/b", "--schedule=constant"}, environment);
  REQUIRE(options);
  CHECK(options->steps == 12);
  CHECK(options->lr == doctest::Approx(0.25));
  CHECK(options->run_dir == "/b");
  CHECK(options->attempt == 4);
  CHECK(options->threads == 3);
  CHECK(options->schedule == find_schedule("constant"));
}

TEST_CASE("bad options are refused by name") {
  CHECK(error_of({"--stesp", "3"}) == "unknown option --stesp");
  CHECK(error_of({"--steps"}) == "--steps needs a value");
  CHECK(error_of({"--steps", "0"}) == "--steps: '0' is not valid");
  CHECK(error_of({"--steps", "-1"}) == "--steps: '-1' is not valid");
  CHECK(error_of({"--lr", "nan"}) == "--lr: 'nan' is not valid");
  CHECK(error_of({"--shards", "2000"}) == "--shards: '2000' is not valid");
  CHECK(error_of({"--batch", "99999999999999999999"}) ==
        "--batch: '99999999999999999999' is not valid");
  CHECK(error_of({"--batch", "100", "--shards", "16"}) ==
        "--batch 100 is not a multiple of --shards 16");
}

TEST_CASE("a bad variable of the environment is named") {
  const auto options = parse_options({}, [](const char* name) -> const char* {
    return std::strcmp(name, "DTSUBMIT_ATTEMPT") == 0 ? "two" : nullptr;
  });
  REQUIRE_FALSE(options);
  CHECK(options.error().message == "DTSUBMIT_ATTEMPT: 'two' is not valid");
}

TEST_CASE("how many ranks there are is only believed of dtsubmit") {
  const auto below = [](const char* name) -> const char* {
    if (std::strcmp(name, "DTSUBMIT_RUN_DIR") == 0) return "/runs/a";
    return std::strcmp(name, "WORLD_SIZE") == 0 ? "4" : nullptr;
  };
  const auto elsewhere = [](const char* name) -> const char* {
    return std::strcmp(name, "WORLD_SIZE") == 0 ? "4" : nullptr;
  };
  CHECK(parse_options({}, below)->planned_ranks == 4);
  CHECK_FALSE(parse_options({}, elsewhere)->planned_ranks);
  CHECK_FALSE(parse_options({}, nothing)->planned_ranks);
}

TEST_CASE("how often to save: a number of steps, or auto, which is the default") {
  CHECK_FALSE(parse_options({}, nothing)->save_every);
  CHECK(parse_options({"--save-every", "20"}, nothing)->save_every == 20);
  CHECK(parse_options({"--save-every=0"}, nothing)->save_every == 0);
  CHECK_FALSE(parse_options({"--save-every", "20", "--save-every", "auto"}, nothing)->save_every);
  CHECK(error_of({"--save-every", "often"}) == "--save-every: 'often' is not valid");
}

TEST_CASE("a slow rank is named with its delay") {
  const auto options = parse_options({"--slow-rank", "3:250"}, nothing);
  REQUIRE(options);
  CHECK(options->slow_rank == 3);
  CHECK(options->slow_rank_ms == 250);
  for (const char* wrong : {"3", ":", "3:", ":250", "-1:5", "3:x"})
    CHECK(error_of({"--slow-rank", wrong}) ==
          "--slow-rank: '" + std::string(wrong) + "' is not valid");
}

TEST_CASE("of the ways in which gradients travel, that is chosen whose steps take the least time") {
  CHECK(Tuner::candidates_for(1000, std::nullopt) == std::vector<BucketScheme>{{0, false}});
  CHECK(Tuner::candidates_for(1000, true) == std::vector<BucketScheme>{{0, true}});
  CHECK(Tuner::candidates_for(8000000, false) ==
        std::vector<BucketScheme>{{0, false}, {4000000, false}});
  const auto ways = Tuner::candidates_for(2000000, std::nullopt);
  CHECK(ways == std::vector<BucketScheme>{{0, false}, {250000, true}, {1000000, true}});
  Tuner tuner(ways);
  int changes = 0;
  for (const double seconds : {9.0, 3.0, 3.1, 3.0, 1.0, 2.0, 2.0, 90.0, 9.0, 4.0, 4.0, 4.0}) {
    CHECK_FALSE(tuner.is_over());
    changes += tuner.record_time(seconds) ? 1 : 0;
  }
  CHECK(tuner.is_over());
  CHECK(changes == 3);
  CHECK(tuner.fastest() == 1);  // ignores first steps and single slow ones
  tuner.choose(1);
  CHECK(tuner.way() == ways[1]);
  CHECK(tuner.table().find("250000  on       flat       2.000000  chosen\n") != std::string::npos);
  CHECK(Tuner::candidates_for(1000, std::nullopt, true) ==
        std::vector<BucketScheme>{{0, false, true}});
  CHECK(Tuner::candidates_for(2000000, true, std::nullopt) ==
        std::vector<BucketScheme>{
            {250000, true, true}, {1000000, true, true}, {250000, true}, {1000000, true}});
}

TEST_CASE("gradients in buckets") {
  auto options = parse_options({}, nothing);
  REQUIRE(options);
  CHECK_FALSE(options->bucket_bytes);
  CHECK_FALSE(options->overlap);
  options = parse_options({"--bucket-size", "4M", "--overlap", "on"}, nothing);
  REQUIRE(options);
  CHECK(options->bucket_bytes == 4000000);
  CHECK(options->overlap == true);
  options = parse_options({"--bucket-size", "64Ki", "--overlap", "off"}, nothing);
  REQUIRE(options);
  CHECK(options->bucket_bytes == 65536);
  CHECK(options->overlap == false);
  for (const char* const whole : {"0", "whole"}) {
    options = parse_options({"--overlap", "auto", "--bucket-size", whole}, nothing);
    REQUIRE(options);
    CHECK(options->bucket_bytes == 0);
    CHECK_FALSE(options->overlap);
  }
  options = parse_options({"--bucket-size", "auto"}, nothing);
  REQUIRE(options);
  CHECK(options->tunes_buckets);
  for (const char* const wrong : {"", "4X", "M", "-1", "1e30G"})
    CHECK(error_of({"--bucket-size", wrong}) ==
          "--bucket-size: '" + std::string(wrong) + "' is not valid");
  CHECK(error_of({"--overlap", "yes"}) == "--overlap: 'yes' is not valid");
  CHECK_FALSE(parse_options({}, nothing)->node_first);
  CHECK(parse_options({"--hierarchy", "node"}, nothing)->node_first == true);
  CHECK(parse_options({"--hierarchy", "flat"}, nothing)->node_first == false);
  CHECK_FALSE(parse_options({"--hierarchy", "flat", "--hierarchy", "auto"}, nothing)->node_first);
  CHECK(error_of({"--hierarchy", "on"}) == "--hierarchy: 'on' is not valid");
}

TEST_CASE("what is divided among the ranks") {
  auto options = parse_options({}, nothing);
  REQUIRE(options);
  CHECK(options->zero == 1);
  options = parse_options({"--zero", "3"}, nothing);
  REQUIRE(options);
  CHECK(options->zero == 3);
  for (const char* const wrong : {"0", "4", "two"})
    CHECK(error_of({"--zero", wrong}) == "--zero: '" + std::string(wrong) + "' is not valid");
  CHECK(error_of({"--zero", "2", "--audit", "0.1"}) == "--audit and --zero 2 exclude each other");
  CHECK(error_of({"--zero", "3", "--bucket-size", "auto"}) ==
        "--bucket-size auto and --zero 3 exclude each other");
  CHECK(parse_options({"--zero", "1", "--audit", "0.1", "--bucket-size", "auto"}, nothing));
}

TEST_CASE("how messages travel, and how long others are waited for") {
  auto options = parse_options({}, nothing);
  REQUIRE(options);
  CHECK(options->transport == TransportKind::automatic);
  CHECK(options->comm_timeout == 600);
  options = parse_options({"--transport=hier", "--comm-timeout", "9"}, nothing);
  REQUIRE(options);
  CHECK(options->transport == TransportKind::hier);
  CHECK(options->comm_timeout == 9);
  CHECK(error_of({"--transport", "tcp"}) == "--transport: 'tcp' is not valid");
  CHECK(error_of({"--comm-timeout", "0"}) == "--comm-timeout: '0' is not valid");
}

TEST_CASE("what asynchronous training excludes is refused all at once") {
  CHECK(parse_options({"--servers", "1", "--staleness", "0"}, nothing)->staleness == 0);
  CHECK(error_of({"--staleness", "x", "--servers", "1"}) == "--staleness: 'x' is not valid");
  const std::string alone = error_of({"--staleness", "2"});
  CHECK(alone.find("needs --servers S") != std::string::npos);
  const std::string all = error_of({"--servers=1",
                                    "--staleness=2",
                                    "--clip-norm=1",
                                    "--optimizer=lamb",
                                    "--audit=1",
                                    "--skip-nonfinite=1",
                                    "--overlap=on",
                                    "--bucket-size=1M",
                                    "--inject=call@1:1"});
  for (const char* const one : {"--clip-norm",
                                "--optimizer lamb",
                                "--audit",
                                "--skip-nonfinite",
                                "--overlap on",
                                "--bucket-size",
                                "--inject"})
    CHECK(all.find(std::string("excludes ") + one) != std::string::npos);
  CHECK(error_of({"--servers=1", "--staleness=2", "--rehearse=params=1M,step=1s"})
            .find("excludes --rehearse") != std::string::npos);
}

TEST_CASE("what is verified, skipped, allowed to differ and broken on purpose") {
  const auto plain = parse_options({}, nothing);
  REQUIRE(plain);
  CHECK(plain->verify_every == 50);
  CHECK(plain->skip_nonfinite == 0);
  CHECK(plain->audit_rate == 0);
  CHECK_FALSE(plain->any_numerics);
  CHECK_FALSE(plain->injection);
  const auto all = parse_options(
      {"--verify-every=7", "--skip-nonfinite=2", "--numerics=any", "--inject", "nan:3@4"}, nothing);
  REQUIRE(all);
  CHECK(all->verify_every == 7);
  CHECK(all->skip_nonfinite == 2);
  CHECK(all->any_numerics);
  CHECK(all->injection->shard == 3);
  CHECK(error_of({"--inject", "weight"}) == "--inject: 'weight' is not valid");
  CHECK(parse_options({"--audit", "0.25"}, nothing)->audit_rate == 0.25);
  CHECK(error_of({"--audit", "1.5"}) == "--audit: '1.5' is not valid");
  CHECK(error_of({"--audit", "1", "--numerics", "any"}) ==
        "--audit and --numerics any exclude each other");
  CHECK(error_of({"--numerics", "some"}) == "--numerics: 'some' is not valid");
}

TEST_CASE("images are augmented, tokens are not") {
  CHECK_FALSE(parse_options({}, nothing)->augmentation.is_any());
  CHECK(parse_options({"--augment", "flip"}, nothing)->augmentation.flips);
  CHECK(error_of({"--augment", "turn"}) == "--augment: 'turn' is not valid");
  CHECK(error_of({"--augment", "crop", "--model", "gpt2:char-mini"}) ==
        "--augment is for images, gpt2 reads tokens");
}
