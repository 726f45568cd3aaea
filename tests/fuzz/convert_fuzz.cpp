// SPDX-License-Identifier: Apache-2.0
// dtsubmit convert: of any text each byte is accounted for at most once, each line at least once,
// and the job file is one that dtsubmit accepts.
#include "core/convert/convert.hpp"
#include "core/lint/script/subject.hpp"
#include "tests/support/fuzz.hpp"

#include <string>
#include <vector>

using dts::tests::must;
using namespace dts::convert;

DTS_FUZZ_TARGET(input) {
  const Options options{"job.sh", {"an argument"}, [](const std::string& name) {
                          return name == "HOME" ? std::optional<std::string>("/home/u")
                                                : std::nullopt;
                        }};
  const Conversion made = convert_script(input, options);
  std::vector<bool> covered(input.size());
  for (const Row& row : made.rows) {
    must(!row.spans.empty());
    if (row.became == Became::lost || row.became == Became::unnecessary ||
        row.became == Became::fill_in)
      must(!row.why.empty());
    for (const Span& span : row.spans) {
      must(span.begin <= span.end && span.end <= input.size());
      for (std::size_t i = span.begin; i < span.end; ++i) {
        must(!covered[i]);
        covered[i] = true;
      }
    }
  }
  must(made.job_file.empty() || problems_of_job_file(made.job_file).empty());
  const dts::lint::Subject subject = dts::lint::subject_of(input, {}, "job.sh");
  if (!subject.is_shell) return;
  std::size_t line = 1;
  std::vector<bool> has_row{false, false};
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (covered[i]) has_row[line] = true;
    if (input[i] == '\n') ++line, has_row.push_back(false);
  }
  for (const std::size_t one : lines_to_account(input, subject.script.comments, subject.header.end))
    must(has_row[one]);
}
