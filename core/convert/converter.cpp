// SPDX-License-Identifier: Apache-2.0
#include "core/convert/converter.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/codes.hpp"
#include "core/convert/job/requests.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/outputs.hpp"
#include "core/convert/needed.hpp"
#include "core/convert/options/early.hpp"
#include "core/convert/own_shells.hpp"
#include "core/convert/program/batch_values.hpp"
#include "core/convert/program/layout.hpp"
#include "core/convert/program/script_sizes.hpp"
#include "core/convert/program/shell_program.hpp"
#include "core/convert/repair.hpp"
#include "core/convert/roles/lines.hpp"
#include "core/convert/roles/sizes.hpp"
#include "core/convert/roles/stage.hpp"
#include "core/convert/roles/world.hpp"
#include "core/convert/steps.hpp"
#include "core/convert/tear_down.hpp"
#include "core/convert/texts.hpp"
#include "core/plan/program/own_launcher.hpp"

#include <algorithm>
#include <set>

namespace dts::convert {
namespace {

constexpr const char* k_no_shell_text = "it cannot be read as part of a shell script";
constexpr const char* k_starts_ranks =
    "it starts ranks with srun or mpirun itself: name the program that it starts";

class Converter {
 public:
  Converter(std::string_view text, const Options& options)
      : options_(options),
        subject_(lint::subject_of(text, {}, options.path)),
        resolver_(subject_.job, options.environment),
        inliner_(subject_.text),
        sizes_(sizes_of_job(subject_, resolver_)) {}

  Conversion run() {
    read_requests(subject_, draft_);
    subject_.is_shell ? shell_script() : other_script();
    Conversion made = repaired(draft_);
    Names needs;
    for (Program& program : programs_) needs.merge(program.needs);
    made.needs.assign(needs.begin(), needs.end());
    complete(made.rows, subject_.text, subject_.script.comments, k_no_shell_text);
    return made;
  }

 private:
  // Python with #SBATCH lines: the file is the program.
  void other_script() {
    const std::string_view text = subject_.text;
    const std::string first(trim(text.substr(2, text.find('\n') - 2)));
    Program program;
    for (const std::string& word : split(first, ' '))
      if (!word.empty()) program.words.push_back({{Segment::Kind::literal, word, true}});
    program.words.push_back({{Segment::Kind::literal, options_.path, true}});
    for (const std::string& one : options_.arguments)
      program.words.push_back({{Segment::Kind::literal, one, true}});
    subject_.script.comments.push_back({0, std::min(subject_.header.end, text.size())});
    const RowIndex row = draft_.add(
        {subject_.header.end, text.size()}, Became::program, options_.path, "run from its file");
    settle_layout(program, draft_, subject_.job, false, false, false);
    programs_ = {program};
    settle_dropped(programs_, false, draft_);
    if (starts_ranks(text)) program.losses.emplace_back(k_starts_ranks);
    draft_.steps.push_back({"", row, program.settings, command_of(program, {}, options_)});
    for (const std::string& why : program.losses) draft_.lose(row, why);
  }

  void shell_script() {
    parts_ = parts_of(subject_);
    rendezvous_ = rendezvous_of(items_in(parts_), subject_.job);
    is_launched_ = std::any_of(parts_.begin(), parts_.end(), is_started_on_all);
    if (!changes_folder(parts_) && subject_.directive("chdir") == nullptr) inliner_.keep_folder();
    inliner_.set_arguments(options_.arguments);
    last_ = last_program(parts_);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].role == Role::around)
        parts_[i].verdict = verdict_on(parts_[i].item, rendezvous_, subject_.job, i < last_);
    Known known(subject_.script, resolver_, options_.arguments, false);
    cast_ = cast_of(parts_, subject_.job, resolver_, known);
    if (cast_.has_roles()) meet_by_roles(cast_, rendezvous_);
    for (const auto& [name, other] : rendezvous_.others) inliner_.rename(name, other);
    if (!cast_.roles.empty()) settle_lines(cast_, rendezvous_, parts_);
    settle_others(parts_, rendezvous_, last_, has_many_nodes());
    if (options_.arguments.empty()) drop_argument_checks(parts_);
    early_options(parts_, resolver_, draft_);
    keep_job_name(subject_, options_, draft_);
    make_programs();
    settle_dropped(programs_, !cast_.roles.empty(), draft_);
    join_programs(cast_, subject_.job, parts_, programs_, places_, draft_);
    for (Program& program : programs_)
      if (cast_.has_roles()) write_sizes_of_role(program, sizes_);
    keep_needed(parts_, programs_, rendezvous_);
    lose_steps(parts_, rendezvous_);
    if (!cast_.has_roles()) settle_own_shells(parts_, programs_, places_, has_many_nodes());
    if (cast_.roles.empty()) lose_lines_beside(parts_, places_);
    if (cast_.has_roles()) lose_of_roles(programs_, parts_);
    settle_tear_down(
        parts_, last_, cast_.has_roles(), subject_.directive("chdir") != nullptr, options_);
    write_rows();
    write_steps();
  }

  // Of the next program.
  [[nodiscard]] Facts facts() const {
    const std::size_t at = programs_.size();
    const bool has_own = cast_.has_roles() && at < cast_.nodes.size() && cast_.nodes[at];
    return {has_own ? cast_.nodes[at]->size() : nodes(), subject_.job.gpus_per_node};
  }

  void make_programs() {
    bool is_beside = false;  // a program in the background has not been waited for
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      if (part.role == Role::program) {
        places_.push_back(i);
        Program& program = programs_.emplace_back(make_program(part.item));
        program.failures = part.failures;
        if (cast_.is_split[programs_.size() - 1]) program.losses.emplace_back(k_split_world);
        if (is_beside && cast_.roles.empty()) program.losses.push_back(side_by_side(nodes()));
        if (program.names_nodes && !are_first_nodes(program, programs_.size() - 1))
          program.losses.emplace_back(k_own_nodes);
        is_beside = is_beside || leaves_running(part.item);
      }
      is_beside = is_beside && !waits(part.item);
      inliner_.follow(*part.item.statement, part.role != Role::program);
    }
  }

  // Those that a step gets by its number of nodes, or a role.
  [[nodiscard]] bool are_first_nodes(const Program& program, std::size_t at) const {
    if (!cast_.roles.empty()) return true;
    if (!cast_.nodes[at]) return false;
    const std::size_t size = program.settings.count("nodes") == 0
                                 ? subject_.job.nodes.value_or(1)
                                 : number_in(program.settings, "nodes").value_or(0);
    return *cast_.nodes[at] == NodeRange{0, size};
  }

  // What the item may call of the functions that start programs, as the shell would find them.
  Program functions_of(const Item& item, ProgramContext& context, bool& starts) {
    Program functions;
    for (const Part* part : called_definitions(parts_, item)) {
      called_.insert(part);
      const Program one = shell_program(part->item, context);
      functions.text += one.text + "\n";
      add_layout(one.settings, subject_.job, functions);
      functions.needs.insert(one.needs.begin(), one.needs.end());
      functions.launch_sizes.insert(one.launch_sizes.begin(), one.launch_sizes.end());
      functions.note(one.notes, one.losses);
      starts = starts || starts_processes(part->item, subject_);
    }
    return functions;
  }

  Program make_program(const Item& item) {
    ProgramContext context{subject_, resolver_, facts(), options_.is_in_folder, item.span().begin};
    context.sizes = sizes_;
    bool starts = false;
    Program functions = functions_of(item, context, starts);
    context.functions = functions.text;
    const std::string read = output_read_later(parts_, item);
    context.keeps_output = !read.empty() && !is_launched(item);
    Program program = program_of(item, inliner_, context);
    if (!context.functions.empty()) add_functions(functions, subject_.job, program);
    if (!read.empty() && !context.keeps_output) program.losses.push_back(read + k_read_later);
    starts = (starts && !context.functions.empty()) || starts_processes(item, subject_);
    const auto own = plan::find_own_launcher(command_of(program, {}, options_));
    const bool is_recognised = starts_processes_of_node(own);
    program.starts_processes = starts || is_recognised;
    settle_layout(
        program, draft_, subject_.job, program.starts_processes, is_recognised, is_launched_);
    settle_sizes(program, draft_, context);
    return program;
  }

  void write_rows() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      part.row = draft_.add(row_of(part, i));
      ask_for_arguments(part, options_, draft_);
      if (part.is_kept && !part.loss.empty()) draft_.lose(part.row, part.loss);
      for (auto& [name, asked] : part.verdict.settings) {
        Asked& all = draft_.settings[name];
        all.row = part.row;
        all.texts.insert(all.texts.end(), asked.texts.begin(), asked.texts.end());
        draft_.rows[part.row].what = shown(name, asked.texts);
      }
    }
  }

  [[nodiscard]] Row row_of(const Part& part, std::size_t at) const {
    if (part.role != Role::around) {
      if (part.role == Role::definition && called_.count(&part) == 0)
        return {
            part.item.spans, Became::unnecessary, "", "no line that is kept calls the function"};
      return {part.item.spans, Became::program, "", part.verdict.why};
    }
    Row row{part.item.spans, Became::program, "", ""};
    if (part.is_kept && part.verdict.kind != Verdict::Kind::option) {
      row.became = at < last_ ? Became::set_up : Became::tear_down;
      row.why = note_on_kept(part, has_many_nodes(), rendezvous_, at >= last_);
      return row;
    }
    if (part.verdict.kind == Verdict::Kind::option)
      return {part.item.spans, Became::option, part.verdict.why, note_on_limit(part)};
    row.became = part.verdict.kind == Verdict::Kind::lost ? Became::lost : Became::unnecessary;
    row.why = part.verdict.why;
    const Names& names = part.item.sets.variables;
    const auto is_inlined = [&](const std::string& name) {
      return inliner_.inlined().count(name) > 0;
    };
    const bool is_renamed = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return rendezvous_.others.count(name) > 0 || is_given(name);
    });
    const bool is_in_arguments =
        part.verdict.kind == Verdict::Kind::if_needed && !is_renamed &&
        (std::any_of(names.begin(), names.end(), is_inlined) ||
         std::any_of(part.item.sets.arrays.begin(), part.item.sets.arrays.end(), is_inlined));
    if (is_in_arguments)
      return {part.item.spans, Became::program, "", "its value is in the program's arguments"};
    return row;
  }

  [[nodiscard]] std::uint64_t nodes() const { return subject_.job.nodes.value_or(1); }

  [[nodiscard]] bool has_many_nodes() const { return nodes() > 1; }

  void write_steps() {
    draft_.are_roles = cast_.has_roles();
    const Bodies bodies = bodies_of(parts_);
    const SetUpText tear_down = set_up_of(
        parts_, last_, last_, parts_.size(), has_many_nodes(), rendezvous_, SetUpOf::tear_down);
    const SetUpText none;  // where a step follows
    const Names used_later = used_by(tear_down.text, bodies);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Program& program = programs_[i];
      const bool is_last = i + 1 == places_.size();
      const std::size_t own = i == 0 || cast_.has_roles() ? 0 : places_[i - 1];
      const SetUpOf role = i == 0 ? SetUpOf::first_role : SetUpOf::later_role;
      const SetUpOf user = cast_.has_roles() ? role : SetUpOf::step;
      SetUpText set_up = set_up_of(parts_, 0, own, places_[i], has_many_nodes(), rendezvous_, user);
      set_up.bodies = &bodies;
      Step step{"", parts_[places_[i]].row, program.settings, {}};
      note_what_is_computed(program);
      const std::string text = with_all_sizes(
          with_exports(set_up, program, is_last ? tear_down : none, used_later, options_), program);
      if (!text.empty()) step.settings["setup"] = {{text}, k_no_row};
      // Once, when all programs have ended.
      if (!tear_down.text.empty() && is_last)
        step.settings["teardown"] = {
            {with_all_sizes(with_state(tear_down, set_up, used_later, options_), program)},
            k_no_row};
      note_left_sizes(text + program.source() + tear_down.text, program);
      step.command = command_of(program, set_up, options_);
      hand_to_container(program, set_up, draft_, step);
      if (!cast_.has_roles()) step.name = name_of_step(step.command, draft_);
      if (cast_.has_roles()) add_role(cast_, i, step);
      Row& row = draft_.rows[step.row];
      row.what = shell_text_of(step.command);
      row.why = join(program.notes, "; ");
      fill_in(program, step, row);
      ask_for_arguments(parts_[places_[i]], options_, draft_);
      for (const std::string& why : program.losses) draft_.lose(step.row, why);
      draft_.steps.push_back(std::move(step));
    }
  }

  const Options& options_;
  lint::Subject subject_;
  Resolver resolver_;
  Inliner inliner_;
  ScriptSizes sizes_;
  Draft draft_;
  std::vector<Part> parts_;
  std::set<const Part*> called_;  // definitions that programs use
  Rendezvous rendezvous_;
  Cast cast_;
  std::vector<std::size_t> places_;  // of the programs in parts_
  std::vector<Program> programs_;
  std::size_t last_ = 0;      // the last program's place
  bool is_launched_ = false;  // some program is started on all nodes
};

}  // namespace

Conversion convert_statements(std::string_view text, const Options& options) {
  return Converter(text, options).run();
}

}  // namespace dts::convert
