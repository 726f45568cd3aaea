// SPDX-License-Identifier: Apache-2.0
// No secret of the environment is written down; everything else is.
#include "core/provenance/recorded_environment.hpp"

#include <doctest/doctest.h>

namespace dts::provenance {
namespace {

TEST_CASE("names that say that their value is a secret") {
  for (const char* name : {"WANDB_API_KEY",
                           "HF_TOKEN",
                           "hf_token",
                           "AWS_SECRET_ACCESS_KEY",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "OPENAI_APIKEY",
                           "SSH_PASSPHRASE",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "SENTRY_DSN",
                           "GITHUB_PAT",
                           "MLFLOW_TRACKING_PASSWORD"})
    CHECK_MESSAGE(is_secret_name(name), name);
  for (const char* name :
       {"PATH", "PWD", "OLDPWD", "KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "HOME", ""})
    CHECK_MESSAGE(!is_secret_name(name), name);
}

TEST_CASE("values that are secrets by their form") {
  CHECK(without_secrets("hf_abcdefghijklmnopqrst") == k_redacted);
  CHECK(without_secrets("eyJhbGciOiJIUzI1NiJ9.e30.abc") == k_redacted);
  CHECK(without_secrets("-----BEGIN OPENSSH PRIVATE KEY-----") == k_redacted);
  CHECK(without_secrets("hf_home") == "hf_home");
  CHECK(without_secrets("https://me:secret@host/path?a=b@c") ==
        "https://<redacted>@host/path?a=b@c");
  CHECK(without_secrets("a=http://u@h b=ftp://u:p@h/") ==
        "a=http://<redacted>@h b=ftp://<redacted>@h/");
  CHECK(without_secrets("https://host/a@b") == "https://host/a@b");
  CHECK(without_secrets("://") == "://");
  CHECK(without_secrets("") == "");
}

TEST_CASE("the environment by name") {
  const auto recorded = recorded_environment(
      {"B=2", "A=1=1", "MY_KEY=secret", "EMPTY_TOKEN=", "no equals sign", "=strange"});
  CHECK(recorded ==
        std::map<std::string, std::string>{
            {"A", "1=1"}, {"B", "2"}, {"EMPTY_TOKEN", ""}, {"MY_KEY", std::string(k_redacted)}});
}

}  // namespace
}  // namespace dts::provenance
