// SPDX-License-Identifier: Apache-2.0
// Words have the values that the script's shell gives them: reductions of scripts that people
// wrote.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("$[...] is arithmetic, as $((...)) is") {
  const Reduced array =
      of_one_node("export N=$[$SLURM_ARRAY_TASK_ID / 5]\npython a.py --seed=$N --x=$[2 * 3]\n");
  CHECK(array.job_has("--seed=$(($SLURM_ARRAY_TASK_ID / 5))"));
  CHECK(array.job_has("--x=$((2 * 3))"));
  CHECK_FALSE(array.job_has("\\$["));
}

TEST_CASE("a tilde in a variable's value is the home folder where the variable is used") {
  const Reduced home = of_one_node("OUT=~/out\nF=$OUT/b\npython a.py --o $OUT --f=\"$F\" ~/c\n");
  CHECK(home.job_has("--o $HOME/out --f=\\\"$HOME\\\"/out/b ~/c"));
  CHECK(of_one_node("P=/a:~/b\npython a.py $P\n").job_has("/a:$HOME/b"));
  CHECK(of_one_node("D=~\npython a.py $D\n").job_has("a.py $HOME"));
  CHECK(of_one_node("HOME=/h\nOUT=~/out\npython a.py $OUT\n").job_has("\"/h/out\""));
  // Quoted, or in the middle of a value, it is a tilde.
  CHECK(of_one_node("OUT=\"~/out\"\npython a.py $OUT\n").job_has("\"~/out\""));
  CHECK(of_one_node("OUT=a~/b\npython a.py $OUT\n").job_has("\"a~/b\""));
}

TEST_CASE("what asks for the folder does so before the script leaves it") {
  for (const std::string value : {"$PWD",
                                  "$(pwd)",
                                  "`pwd`/out",
                                  "$(ls | wc -l)",
                                  "$(<list.txt)",
                                  "$(head -n 3 f | tail -n 1)",
                                  "$(sed -n 3p f | cut -d, -f1)",
                                  "$(wc -l f | cut -d ' ' -f 1)",
                                  "$(echo *.txt | wc -w)",
                                  "$(test -f a && echo 1)",
                                  "$( < f)",
                                  "$(true || cat f)",
                                  "$(bc < f)",
                                  "$(date -r f)",
                                  "$(date | cat - f)",
                                  "$(echo 1 | grep x f)",
                                  "$(bc f)"}) {
    CAPTURE(value);
    const Reduced made = of_one_node("OUT=" + value + "\ncd /data/x\npython a.py $OUT\n");
    CHECK(made.became("cd /data") == Became::set_up);
    CHECK_FALSE(made.job_has("chdir"));
  }
  CHECK(of_one_node("F=(*.txt)\ncd /data/x\npython a.py ${F[@]}\n").became("cd /data") ==
        Became::set_up);
  for (const std::string value : {"/data",
                                  "$(date +%F)",
                                  "$(echo $X | cut -c 2)",
                                  "$HOME/x",
                                  "$(echo $X | sed 's/a/b/' | head -n 1)",
                                  "$(scontrol show hostnames \"$L\" | grep -c x)",
                                  "$(bc <<< \"3 * 4\")",
                                  "$(shuf -i 1-9 -n 1)"}) {
    CAPTURE(value);
    const Reduced made = of_one_node("OUT=" + value + "\ncd /data/x\npython a.py $OUT\n");
    CHECK(made.job_has("chdir = \"/data/x\""));
  }
}

TEST_CASE(
    "eval of a command in a variable runs the command, its output goes to the run directory") {
  const std::string command =
      "APP=\"python a.py\"\nCMD=\"$APP -x > logs/out.$SLURM_JOB_ID\"\neval $CMD\n";
  CHECK(of_one_node(command).job_has("command = [\"python\", \"a.py\", \"-x\"]"));
  const Reduced launched = of_nodes("CMD=\"srun python a.py 2>&1 | tee log\"\neval \"$CMD\"\n");
  CHECK(launched.made.is_lossless());
  CHECK(launched.job_has("command = [\"python\", \"a.py\"]"));
  // Whatever is not a single command is for eval.
  const Reduced several = of_one_node("CMD=\"python a.py; python b.py\"\neval \"$CMD\"\n");
  CHECK(several.job_has("eval 'python a.py; python b.py'"));
  const Reduced file = of_one_node("CMD=\"cat a b > c\"\neval $CMD\npython a.py c\n");
  CHECK(file.job_has("eval cat a b '>' c"));
}

TEST_CASE("a program without a launcher among launched ones is run once, which ranks cannot do") {
  const Reduced both = of_nodes("if [ -f \"$X\" ]; then\n  python a.py\n  srun python b.py\nfi\n");
  CHECK(both.became("if [") == Became::lost);
  CHECK(both.says("if [", "`python a.py` is started without a launcher: every rank would run it"));
  const Reduced one = Reduced(
      "#!/bin/bash\n#SBATCH -N 1\n#SBATCH -n 1\n"
      "if [ -f \"$X\" ]; then\n  python a.py\n  srun python b.py\nfi\n");
  CHECK(one.made.is_lossless());
  const Reduced per_node = Reduced(
      "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node 4\n#SBATCH --ntasks-per-node 1\n"
      "if [ -f \"$X\" ]; then\n  torchrun a.py\nelse\n  srun torchrun a.py\nfi\n");
  CHECK(per_node.made.is_lossless());
}

TEST_CASE("a list whose last command may fail does not end the set-up where the script goes on") {
  const std::string line = "[ -d $OUT ] || mkdir $OUT\n";
  CHECK(of_one_node(line + "python a.py\n").job_has("mkdir $OUT || true\n"));
  CHECK(of_one_node("set -e\n" + line + "python a.py\n").job_has("mkdir $OUT\n"));
  for (const std::string kept :
       {"ls $A || exit 1\n", "[ -f b ] && source b\n", "[ -d $A ] || { ls b; exit 1; }\n"}) {
    CAPTURE(kept);
    CHECK_FALSE(of_one_node(kept + "python a.py\n").job_has("|| true"));
  }
}

TEST_CASE("\\time with options is a program, time is a word of the shell") {
  CHECK(of_one_node("\\time -v python a.py\n").job_has("[\"time\", \"-v\", \"python\", \"a.py\"]"));
  CHECK(of_one_node("time -p python a.py\n").job_has("command = [\"python\", \"a.py\"]"));
  CHECK(of_one_node("time python a.py\n").job_has("command = [\"python\", \"a.py\"]"));
}

TEST_CASE("an export in quotes sets a variable") {
  const Reduced made = of_one_node("export 'A=b:c'\nexport \"D=$E\"\npython a.py --d $D\n");
  CHECK(made.job_has("export 'A=b:c'\n"));
  CHECK(made.job_has("export \"D=$E\"\n"));
  CHECK(made.job_has("--d $D"));
}

TEST_CASE("egrep behind a program looks at its output, it is no step") {
  const Reduced made = of_one_node("python a.py > log\negrep -i error log > errors\n./report\n");
  CHECK_FALSE(made.job_has("name = \"egrep\""));
}

TEST_CASE("an array keeps its declaration, without which its keys would be numbers") {
  const Reduced made = of_one_node(
      "declare -A heads\nheads=([\"a\"]=2 [\"b\"]=3)\nn=\"${heads[$K]}\"\npython a.py $n\n");
  CHECK(made.job_has("declare -A heads\nheads=("));
}

TEST_CASE("bash -c with a command of the shell alone stays a shell") {
  const Reduced made = of_one_node("srun bash -c \"cd $WORK\"\nsrun python a.py\n");
  CHECK_FALSE(made.job_has("exec cd"));
  CHECK(made.job_has("[\"bash\", \"-c\", \"cd $WORK\"]"));
}

TEST_CASE("a variable that adds to its own value does so once") {
  for (const std::string line : {"export ARGS=\"$ARGS --foo\"\n", "ARGS=\"$ARGS --foo\"\n"}) {
    CAPTURE(line);
    const Reduced made = of_one_node(line + "mkdir -p \"$ARGS\"\npython a.py $ARGS\n");
    CHECK(made.job_has(line));
    CHECK(made.job_has("exec python a.py $ARGS\"]"));
  }
  CHECK(of_one_node("N=\"${N:-5}\"\npython a.py \"$N\"\n").job_has("a.py \\\"${N:-5}\\\""));
  CHECK(of_one_node("N=${N:-5}\npython a.py $N\n").job_has("exec python a.py ${N:-5}"));
}

TEST_CASE("a file that eval's command writes and a later line reads is written, or lost") {
  for (const std::string reader :
       {"./b out.txt", "./b --in=\"out.txt\"", "F=out.txt\n./b $F", "./b < out.txt"}) {
    CAPTURE(reader);
    CHECK(of_one_node("CMD=\"./a > out.txt\"\neval $CMD\n" + reader + "\n")
              .job_has("eval ./a '>' out.txt"));
    const Reduced launched =
        of_nodes("CMD=\"srun ./a > out.txt\"\neval $CMD\nsrun " + reader + "\n");
    CHECK(launched.says("eval", "out.txt, the file of its output, is read by a later line"));
  }
  CHECK(of_one_node("F=d/out\nCMD=\"./a | tee $F\"\neval $CMD\n./b $F\n")
            .job_has("eval ./a '|' tee d/out"));
  // Printed, written again or another file, it is as good in the run directory.
  for (const std::string other : {"echo out.txt", "./b > out.txt", "./b my_out.txt", "eval $CMD"}) {
    CAPTURE(other);
    CHECK(of_one_node("CMD=\"./a > out.txt\"\neval $CMD\n" + other + "\n")
              .job_has("command = [\"./a\"]"));
  }
}

TEST_CASE("variables in front of eval are those of its commands") {
  const Reduced made =
      of_one_node("CMD=\"python a.py; python b.py\"\nA=1 B=\"x y\" eval \"$CMD\"\n");
  CHECK(made.job_has("A=1 B='x y' eval 'python a.py; python b.py'"));
}

TEST_CASE("values that would fill the memory are left to the shell") {
  std::string tildes = "~";
  std::string names = "$A";
  for (int i = 0; i < 5000; ++i) {
    tildes += ":~";
    names += ":$A";
  }
  const std::string big(60000, 'x');
  CHECK_FALSE(
      of_one_node("HOME=/" + big + "\nX=" + tildes + "\npython a.py $X\n").job_has("xxx:/xxx"));
  CHECK(of_one_node("A=" + big + "\nX=" + names + "\npython a.py $X\n").job_has("a.py $X"));
  std::string doubling = "X0=0123456789\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "$X" + std::to_string(i - 1);
    doubling += "X" + std::to_string(i) + "=" + before + ":" + before + "\n";
  }
  CHECK(of_one_node(doubling + "python a.py $X40\n").made.job_file.size() < 1U << 20);
}

TEST_CASE("the folder of another user is left to the shell") {
  for (const std::string value : {"~bob/out", "~+/out", "/a:~bob/out"}) {
    CAPTURE(value);
    const Reduced made = of_one_node("OUT=" + value + "\npython a.py \"$OUT\"\n");
    CHECK(made.became("OUT=") == Became::set_up);
    CHECK(made.job_has("a.py \\\"$OUT\\\""));
  }
  CHECK(of_one_node("OUT=~\"bob\"\npython a.py \"$OUT\"\n").job_has("\"~bob\""));
}

TEST_CASE("a default in which quotes or a tilde count is evaluated where the script does so") {
  for (const std::string value : {"${N:-'foo'}", "${N:-~/out}", "${N:-a\\ b}"}) {
    CAPTURE(value);
    const Reduced made = of_one_node("X=" + value + "\npython a.py \"$X\"\n");
    CHECK(made.became("X=") == Became::set_up);
    CHECK(made.job_has("a.py \\\"$X\\\""));
  }
}

TEST_CASE("only a default alone may be evaluated twice") {
  CHECK(of_one_node("N=${N:-5}${N:-6}\npython a.py $N\n").job_has("a.py $N"));
  CHECK(of_one_node("N=${N:-5}\npython a.py $N\n").job_has("a.py ${N:-5}"));
}

TEST_CASE("elements of an array at places of their own are no words") {
  for (const std::string elements : {"[x]=1 [y]=2", "[$K]=1", "[\"a b\"]=c"}) {
    CAPTURE(elements);
    const Reduced made = of_one_node("H=(" + elements + ")\npython a.py \"${H[@]}\"\n");
    CHECK(made.became("H=(") == Became::set_up);
    CHECK(made.job_has("a.py \"${H[@]}\""));
  }
}

TEST_CASE("a declared array stays one, whatever other options it has") {
  const Reduced made = of_one_node("declare -g -A H\nH[x]=1\nK=x\npython a.py ${H[$K]}\n");
  CHECK(made.became("declare") == Became::set_up);
}

TEST_CASE("values that a declaration changes are those of the shell") {
  for (const std::string option : {"-i", "-l", "-u", "-g -i", "-n"}) {
    CAPTURE(option);
    CHECK(of_one_node("declare " + option + " N\nN=4*2\npython a.py $N\n").job_has("a.py $N"));
    CHECK(of_one_node("declare " + option + " N=4*2\npython a.py $N\n").job_has("a.py $N"));
  }
  CHECK(of_one_node("declare -x N\nN=4\npython a.py $N\n").job_has("\"4\""));
}

TEST_CASE("what eval runs in the script's own shell is no program") {
  for (const std::string command : {"cd /x", "module load x", "conda activate x"}) {
    CAPTURE(command);
    const Reduced made = of_one_node("CMD=\"" + command + "\"\neval $CMD\npython a.py\n");
    CHECK(made.became("eval") == Became::set_up);
    CHECK(made.job_has("eval $CMD"));
    CHECK_FALSE(made.job_has("[[steps]]"));
    CHECK(made.job_has("SCRIPT_FOLDER=$PWD") == (command == "cd /x"));
  }
  for (const std::string command : {"export A=1", "type python", "getopts a b"}) {
    CAPTURE(command);
    CHECK(of_one_node("CMD=\"" + command + "\"\neval $CMD\npython a.py\n")
              .says("eval", "is for the script's own shell"));
  }
  CHECK(of_one_node("CMD=\"conda run -n env python a.py\"\neval $CMD\n")
            .job_has("command = [\"conda\", \"run\", \"-n\", \"env\", \"python\", \"a.py\"]"));
}

TEST_CASE("exec and command with options are for a shell") {
  const Reduced asks = of_nodes("srun bash -c \"command -v python\"\n");
  CHECK(asks.job_has("\"bash\", \"-c\", \"command -v python\""));
  CHECK(of_nodes("srun bash -c \"exec -a x prog\"\n").job_has("exec -a x prog"));
  CHECK(of_one_node("exec -a x python a.py\n").job_has("exec -a x python a.py"));
}

TEST_CASE("torchrun beside a program of several tasks is no task's work") {
  const auto made = [](const std::string& tasks, const std::string& other) {
    return Reduced("#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=" + tasks +
                   "\nif [ -f x ]; then\n  torchrun a.py\nelse\n  srun " + other + "\nfi\n");
  };
  CHECK(made("4", "python b.py").says("if", "`torchrun a.py` is started without a launcher"));
  CHECK(made("1", "python b.py").made.is_lossless());
  CHECK(made("1", "-n 4 python b.py").says("if", "`torchrun a.py` is started without a launcher"));
}

TEST_CASE("a command of very many words keeps them all") {
  std::string array = "A=(";
  for (int i = 0; i < 3000; ++i) array += " f" + std::to_string(i);
  const Reduced made = of_one_node(array + ")\npython a.py \"${A[@]}\" \"${A[@]}\" last\n");
  CHECK(made.became("A=(") == Became::set_up);
  CHECK(made.job_has("a.py \"${A[@]}\" \"${A[@]}\" last"));
  std::string words = "python a.py";
  for (int i = 0; i < 5000; ++i) words += " f" + std::to_string(i);
  CHECK(of_one_node(words + "\n").job_has("f4999"));
  const std::string big = "A=" + std::string(60000, 'x') + "\npython a.py ";
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "$A";
  CHECK(of_one_node(big + name + "\n").made.job_file.size() < 1U << 20);
}

TEST_CASE("variables that a launcher sets within a condition are set for its program") {
  const std::string begin = "if [ -f a ]; then mpirun -np 2 -x A='b c' -x D=e ";
  CHECK(of_nodes(begin + "./a; else mpirun -np 2 ./b; fi\n")
            .job_has("if [ -f a ]; then env 'A=b c' D=e ./a; else ./b; fi"));
  const Reduced open = of_nodes(begin + "-x F=$(cat g) ./a; fi\n");
  CHECK(open.became("if [") == Became::lost);
}

TEST_CASE("a job whose script uses its name is named as by sbatch") {
  const std::string uses = "mkdir -p out/$SLURM_JOB_NAME\nsrun ./a\n";
  CHECK(of_one_node(uses).job_has("job_name = \"job.sh\""));
  CHECK(of_one_node("#SBATCH -o %x.out\nsrun ./a\n").job_has("job_name = \"job.sh\""));
  CHECK_FALSE(of_one_node("srun ./a\n").job_has("job_name"));
  const Reduced named("#!/bin/bash\n#SBATCH --job-name=b\n" + uses);
  CHECK(named.job_has("job_name = \"b\""));
}

TEST_CASE("a loop in the background has the time of each turn") {
  const std::string out = "OUT=run_$(date +%F)\n";
  const std::string run = "srun ./a $OUT\n";

  struct Row {
    std::string line, made;
  };

  for (const Row& row : std::vector<Row>{
           {"( while true; do date; sleep 9; done ) &", "( unset -f date; while true; do"},
           {"{ until [ -f x ]; do date; done; } > y &", "{ unset -f date; until [ -f x ]; do"},
           {"while sleep 5; do echo \"$(date)\"; done > y &",
            "{ unset -f date; while sleep 5; do echo \"$(date)\"; done > y; } &"},
           {"mon() { while sleep 5; do date; done; }\nmon &", "{ unset -f date; mon; } &"}}) {
    CAPTURE(row.line);
    const Reduced made = of_nodes(out + row.line + "\n" + run);
    CHECK(made.job_has(row.made));
    CHECK(made.job_has("date() { command date -d"));
    CHECK_FALSE(made.says(row.line.substr(row.line.find('\n') + 1), "the same in all ranks"));
  }
  for (const std::string line :
       {"touch $(date +%F) &",
        "for f in a b; do touch $f.$(date +%F); done &",
        "while read f; do touch $f.$(date +%F); done < list",
        "( touch $(date +%F) ) &",
        "mon() { while sleep 5; do date; done; }\ntouch mon.$(date +%F) mon &"}) {
    CAPTURE(line);
    const Reduced made = of_nodes(line + "\nsrun ./a\n");
    CHECK_FALSE(made.job_has("unset -f date"));
    CHECK(made.job_has("date() { command date -d"));
  }
}
