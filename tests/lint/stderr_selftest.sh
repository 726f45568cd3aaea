#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_stderr.sh on small trees: each way to standard error must fail by name, what only looks like one passes.
set -u
check=check_stderr.sh
. "$(dirname "$0")/expect.sh"

expect fail core/run/x.cpp 'fmt::print(stderr, "x");'
expect fail core/run/x.cpp '    stderr, "the second line of a call");'
expect fail core/run/x.hpp 'std::fputs("x", stderr);'
expect fail cli/commands/x.cpp 'std::fprintf(stderr, "%s", "x");'
expect fail plugins/slurm/x.cpp 'std::cerr << "x";'
expect fail core/train/x.cpp 'std::clog << "x";'
expect fail core/launch/x.cpp 'perror("x");'
expect fail core/launch/x.cpp '::write(STDERR_FILENO, "x", 1);'
expect fail core/launch/x.cpp 'dprintf(2, "x");'
expect pass core/base/os/log.cpp '::write(STDERR_FILENO, "x", 1);'
expect pass core/run/x.cpp 'tell("words on stderr: {}", x);  // as stderr has them'
expect pass core/run/x.cpp 'command.stdout_fd = STDERR_FILENO;'
expect pass core/run/x.cpp 'answer.stderr.size();'
expect pass cli/commands/x.cpp 'std::fputs(text.c_str(), stdout);'
expect pass tests/unit/x.cpp 'std::cerr << "x";'
echo "$failures failures"
[ "$failures" -eq 0 ]
