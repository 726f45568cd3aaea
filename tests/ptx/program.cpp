// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/program.hpp"

#include "tests/ptx/statements.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

namespace ptx {
namespace {

[[noreturn]] void refuse(const Statement& one, const std::string& what) {
  throw std::runtime_error("PTX, line " + std::to_string(one.line) + ": " + what + ": " + one.name +
                           " " + one.rest);
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts{""};
  for (const char one : name)
    if (one == '.')
      parts.emplace_back();
    else
      parts.back() += one;
  return parts;
}

bool has(const std::vector<std::string>& parts, const char* one) {
  return std::find(parts.begin(), parts.end(), one) != parts.end();
}

// The type that is the argument of run_block, demangled.
std::string kernel_name(const std::string& symbol) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), &std::free);
  const std::string whole = text == nullptr ? symbol : text.get();
  const auto begin = whole.find("run_block<");
  const auto end = whole.rfind(">(");
  if (begin == std::string::npos || end == std::string::npos) return whole;
  return trimmed(whole.substr(begin + 10, end - begin - 10));
}

// Reads the statements of one kernel.
class Reader {
 public:
  explicit Reader(std::string symbol) {
    kernel_.name = kernel_name(symbol);
    parameters_ = std::move(symbol) + "_param_0";
  }

  void add(const Statement& one) {
    if (one.name.back() == ':')
      labels_[one.name.substr(0, one.name.size() - 1)] = kernel_.code.size();
    else if (one.name == ".shared")
      add_shared(one);
    else if (one.name.front() != '.')
      add_instruction(one);
  }

  Kernel finished() {
    for (const auto& [number, statement] : branches_) {
      const auto found = labels_.find(statement.rest);
      if (found == labels_.end()) refuse(statement, "no such label");
      kernel_.code[number].target = found->second;
    }
    return std::move(kernel_);
  }

 private:
  // ".shared .align 16 .b8 name[64]"
  void add_shared(const Statement& one) {
    std::size_t alignment = 0;
    std::size_t bytes = 0;
    char name[512];
    if (std::sscanf(one.rest.c_str(), ".align %zu .b8 %511[^[][%zu]", &alignment, name, &bytes) !=
        3)
      refuse(one, "not implemented");
    std::size_t& end = kernel_.shared_bytes;
    end = (end + alignment - 1) / alignment * alignment;
    symbols_[name] = k_shared_begin + end;
    end += bytes;
  }

  int slot_of(const std::string& text, Word value = 0) {
    const auto [at, is_new] = slots_.try_emplace(text, static_cast<int>(kernel_.slots.size()));
    if (is_new) kernel_.slots.push_back(value);
    if (text == "%tid.x") kernel_.thread_slot = at->second;
    if (text == "%ctaid.x") kernel_.block_slot = at->second;
    return at->second;
  }

  // A register, a name of memory, or a number: decimal, or 0f or 0d with the bits.
  int operand(const Statement& one, const std::string& text) {
    if (text.front() == '%') {
      const bool is_plain =
          text.back() >= '0' && text.back() <= '9';  // not one of the special ones
      if (!is_plain && text != "%tid.x" && text != "%ctaid.x") refuse(one, "not implemented");
      return slot_of(text);
    }
    if (text == parameters_) return slot_of("0", 0);
    if (const auto found = symbols_.find(text); found != symbols_.end())
      return slot_of(text, found->second);
    char* end = nullptr;
    const bool is_float = text[0] == '0' && text.size() > 2 && (text[1] == 'f' || text[1] == 'd');
    const Word value = is_float ? std::strtoull(text.c_str() + 2, &end, 16)
                                : static_cast<Word>(std::strtoll(text.c_str(), &end, 10));
    if (*end != '\0') refuse(one, "not implemented");
    return slot_of(text, value);
  }

  // "[register+offset]"
  void add_address(const Statement& one, Instruction& to, int which, std::string text) {
    if (text.front() != '[' || text.back() != ']') refuse(one, "not implemented");
    text = text.substr(1, text.size() - 2);
    const auto plus = text.find('+');
    if (plus != std::string::npos)
      to.offset[which] = std::strtoll(text.c_str() + plus + 1, nullptr, 10);
    to.at[which] = operand(one, trimmed(text.substr(0, plus)));
  }

  // The operands, with those in braces one by one.
  static std::vector<std::string> operands_of(const std::string& rest) {
    std::vector<std::string> all{""};
    for (const char one : rest)
      if (one == ',')
        all.emplace_back();
      else if (one != '{' && one != '}')
        all.back() += one;
    for (std::string& one : all) one = trimmed(one);
    if (all.back().empty()) all.pop_back();
    return all;
  }

  void set_slots(const Statement& one, Instruction& to, const std::vector<std::string>& operands) {
    if (operands.size() > to.slots.size()) refuse(one, "too many operands");
    for (std::size_t i = 0; i < operands.size(); ++i) to.slots[i] = operand(one, operands[i]);
  }

  // "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]" and "st..." the other way round.
  void set_access(const Statement& one, Instruction& to, std::vector<std::string> operands) {
    const std::vector<std::string> parts = parts_of(one.name);
    const std::string& type = parts.back();
    to.kind = parts[0] == "ld" ? Kind::load : Kind::store;
    to.space = has(parts, "param")    ? Space::parameters
               : has(parts, "shared") ? Space::shared
                                      : Space::global;
    const int count = has(parts, "v4") ? 4 : has(parts, "v2") ? 2 : 1;
    const std::size_t most = count == 1 ? 3 : 4;
    const bool is_known = has(parts, "param") || has(parts, "shared") || has(parts, "global");
    if (!is_known || parts.size() != most ||
        std::string("busf").find(type[0]) == std::string::npos ||
        operands.size() != static_cast<std::size_t>(count) + 1)
      refuse(one, "not implemented");
    to.count = count;
    to.bytes = std::atoi(type.c_str() + 1) / 8;
    to.is_signed = type[0] == 's';
    const auto address = to.kind == Kind::load ? operands.end() - 1 : operands.begin();
    add_address(one, to, 0, *address);
    operands.erase(address);
    set_slots(one, to, operands);
  }

  void set_copy(const Statement& one, Instruction& to, const std::vector<std::string>& operands) {
    if (operands.size() != 3) refuse(one, "not implemented");
    to.kind = Kind::copy_async;
    add_address(one, to, 0, operands[0]);
    add_address(one, to, 1, operands[1]);
    to.bytes = std::atoi(operands[2].c_str());
  }

  void set_matrices(const Statement& one, Instruction& to, std::vector<std::string> operands) {
    to.kind = Kind::load_matrices;
    to.is_transposed = has(parts_of(one.name), "trans");
    add_address(one, to, 0, operands.back());
    operands.pop_back();
    set_slots(one, to, operands);
  }

  void set_operation(const Statement& one,
                     Instruction& to,
                     const std::vector<std::string>& operands) {
    std::string name = one.name;
    if (const auto brace = one.rest.find('{'); brace != std::string::npos)
      name += brace == 0 ? " unpack" : " pack";
    to.operation = operation_named(name);
    if (to.operation == nullptr) refuse(one, "not implemented");
    set_slots(one, to, operands);
  }

  void add_instruction(Statement one) {
    Instruction made;
    made.line = one.line;
    if (one.name.front() == '@') {
      made.is_guard_negated = one.name[1] == '!';
      made.guard = slot_of(one.name.substr(made.is_guard_negated ? 2 : 1));
      const auto [name, rest] = first_word(one.rest);
      one = {name, rest, one.line};
    }
    const std::vector<std::string> operands = operands_of(one.rest);
    if (one.name == "bra" || one.name == "bra.uni") {
      made.kind = Kind::branch;
      branches_.emplace_back(kernel_.code.size(), one);
    } else if (one.name == "ret") {
      made.kind = Kind::end;
    } else if (one.name == "bar.sync" && one.rest == "0") {
      made.kind = Kind::barrier;
    } else if (one.name == "bar.warp.sync" && one.rest == "-1") {
      made.kind = Kind::warp_barrier;
    } else if (one.name == "cp.async.ca.shared.global" || one.name == "cp.async.cg.shared.global") {
      set_copy(one, made, operands);
    } else if (one.name == "cp.async.wait_all") {
      made.kind = Kind::wait_copies;
    } else if (one.name == "ldmatrix.sync.aligned.m8n8.x4.shared.b16" ||
               one.name == "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16") {
      set_matrices(one, made, operands);
    } else if (one.name == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") {
      made.kind = Kind::multiply_matrices;
      set_slots(one, made, operands);
    } else if (one.name.starts_with("ld.") || one.name.starts_with("st.")) {
      set_access(one, made, operands);
    } else {
      set_operation(one, made, operands);
    }
    kernel_.code.push_back(made);
  }

  Kernel kernel_;
  std::string parameters_;
  std::map<std::string, std::uint64_t> symbols_;  // addresses in shared memory
  std::map<std::string, int> slots_;
  std::map<std::string, std::size_t> labels_;
  std::vector<std::pair<std::size_t, Statement>> branches_;
};

}  // namespace

std::map<std::string, Kernel> parse(std::string_view text) {
  std::map<std::string, Kernel> kernels;
  std::unique_ptr<Reader> reader;
  int depth = 0;
  for (const Statement& one : statements(text)) {
    if (one.name == ".entry" || (one.name == ".visible" && one.rest.starts_with(".entry"))) {
      const std::string head = one.name + " " + one.rest;
      const auto begin = head.find(".entry") + 6;
      reader = std::make_unique<Reader>(trimmed(head.substr(begin, head.find('(') - begin)));
    } else if (one.name == "{") {
      ++depth;
    } else if (one.name == "}") {
      if (--depth > 0 || reader == nullptr) continue;
      Kernel kernel = reader->finished();
      reader.reset();
      kernels[kernel.name] = std::move(kernel);
    } else if (reader != nullptr && depth > 0) {
      reader->add(one);
    }
  }
  return kernels;
}

}  // namespace ptx
