// SPDX-License-Identifier: Apache-2.0
// Interprets options as sbatch 22.05 does (slurm_opt.c). A test compares the resulting jobs.
#include "plugins/slurm/options.hpp"

#include "plugins/slurm_shared/request_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace slurm_plugin {
namespace {

using nlohmann::json;
using Keep = std::function<char*(std::string)>;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

// "4096M", the only form of sizes in requests.
std::optional<std::uint64_t> mebibytes_of(std::string_view text) {
  if (text.empty() || text.back() != 'M') return std::nullopt;
  const auto number = number_of(text.substr(0, text.size() - 1));
  return number && *number >= 0 ? std::optional<std::uint64_t>(*number) : std::nullopt;
}

struct MailWord {
  std::string_view word;
  std::uint16_t bits;
};

constexpr MailWord k_mail_words[] = {
    {"NONE", 0},
    {"BEGIN", MAIL_JOB_BEGIN},
    {"END", MAIL_JOB_END},
    {"FAIL", MAIL_JOB_FAIL},
    {"REQUEUE", MAIL_JOB_REQUEUE},
    {"INVALID_DEPEND", MAIL_INVALID_DEPEND},
    {"STAGE_OUT", MAIL_JOB_STAGE_OUT},
    {"TIME_LIMIT", MAIL_JOB_TIME100},
    {"TIME_LIMIT_90", MAIL_JOB_TIME90},
    {"TIME_LIMIT_80", MAIL_JOB_TIME80},
    {"TIME_LIMIT_50", MAIL_JOB_TIME50},
    {"ARRAY_TASKS", MAIL_ARRAY_TASKS},
    {"ALL",
     MAIL_INVALID_DEPEND | MAIL_JOB_BEGIN | MAIL_JOB_END | MAIL_JOB_FAIL | MAIL_JOB_REQUEUE |
         MAIL_JOB_STAGE_OUT},
};

std::optional<std::uint16_t> mail_bits(std::string_view list) {
  std::uint16_t bits = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto* row =
        std::find_if(std::begin(k_mail_words), std::end(k_mail_words), [&](const MailWord& one) {
          return one.word == list.substr(0, comma);
        });
    if (row == std::end(k_mail_words)) return std::nullopt;
    bits = row->bits == 0 ? 0 : static_cast<std::uint16_t>(bits | row->bits);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return bits;
}

// One row per option: sets the field; false if only sbatch can read the value.
struct OptionRow {
  std::string_view name;
  bool (*set)(job_desc_msg_t& message, const std::string& value, const Keep& keep);
};

template <char* job_desc_msg_t::*member>
bool text_field(job_desc_msg_t& message, const std::string& value, const Keep& keep) {
  message.*member = keep(value);
  return true;
}

bool set_exclusive(job_desc_msg_t& message, const std::string& value, const Keep&) {
  message.shared = value.empty()     ? JOB_SHARED_NONE
                   : value == "user" ? JOB_SHARED_USER
                                     : JOB_SHARED_MCS;
  return value.empty() || value == "user" || value == "mcs";
}

bool set_nice(job_desc_msg_t& message, const std::string& value, const Keep&) {
  const auto number = value.empty() ? std::optional<std::int64_t>(100) : number_of(value);
  if (!number) return false;
  message.nice = static_cast<std::uint32_t>(NICE_OFFSET + *number);
  return true;
}

bool set_memory_per_cpu(job_desc_msg_t& message, const std::string& value, const Keep&) {
  const auto mib = mebibytes_of(value);
  if (mib) message.pn_min_memory = *mib | MEM_PER_CPU;
  return mib.has_value();
}

bool set_memory_per_gpu(job_desc_msg_t& message, const std::string& value, const Keep& keep) {
  const auto mib = mebibytes_of(value);
  if (mib) message.mem_per_tres = keep("gres:gpu:" + std::to_string(*mib));
  return mib.has_value();
}

bool set_disk(job_desc_msg_t& message, const std::string& value, const Keep&) {
  const auto mib = mebibytes_of(value);
  if (mib) message.pn_min_tmp_disk = static_cast<std::uint32_t>(*mib);
  return mib.has_value();
}

bool set_mail_type(job_desc_msg_t& message, const std::string& value, const Keep&) {
  const auto bits = mail_bits(value);
  if (bits) message.mail_type = *bits;
  return bits.has_value();
}

constexpr OptionRow k_option_rows[] = {
    {"array", text_field<&job_desc_msg_t::array_inx>},
    {"account", text_field<&job_desc_msg_t::account>},
    {"bb", text_field<&job_desc_msg_t::burst_buffer>},
    {"comment", text_field<&job_desc_msg_t::comment>},
    {"constraint", text_field<&job_desc_msg_t::features>},
    {"contiguous",
     [](job_desc_msg_t& message, const std::string&, const Keep&) {
       message.contiguous = 1;
       return true;
     }},
    {"dependency", text_field<&job_desc_msg_t::dependency>},
    {"exclusive", set_exclusive},
    {"hold",
     [](job_desc_msg_t& message, const std::string&, const Keep&) {
       message.priority = 0;
       return true;
     }},
    {"licenses", text_field<&job_desc_msg_t::licenses>},
    {"mail-type", set_mail_type},
    {"mail-user", text_field<&job_desc_msg_t::mail_user>},
    {"mem-per-cpu", set_memory_per_cpu},
    {"mem-per-gpu", set_memory_per_gpu},
    {"nice", set_nice},
    {"nodelist", text_field<&job_desc_msg_t::req_nodes>},
    {"oversubscribe",
     [](job_desc_msg_t& message, const std::string&, const Keep&) {
       message.shared = JOB_SHARED_OK;
       return true;
     }},
    {"prefer", text_field<&job_desc_msg_t::prefer>},
    {"qos", text_field<&job_desc_msg_t::qos>},
    {"reboot",
     [](job_desc_msg_t& message, const std::string&, const Keep&) {
       message.reboot = 1;
       return true;
     }},
    {"reservation",
     [](job_desc_msg_t& message, const std::string& value, const Keep& keep) {
       if (!value.empty()) message.reservation = keep(value);
       return true;
     }},
    {"tmp", set_disk},
    {"wckey", text_field<&job_desc_msg_t::wckey>},
};

const OptionRow* option_row_of(std::string_view name) {
  const auto* row = std::find_if(std::begin(k_option_rows),
                                 std::end(k_option_rows),
                                 [&](const OptionRow& one) { return one.name == name; });
  return row == std::end(k_option_rows) ? nullptr : row;
}

}  // namespace

bool knows_options(const json& options) {
  job_desc_msg_t scratch{};
  std::string kept;
  const Keep keep = [&kept](std::string text) {
    kept = std::move(text);
    return kept.data();
  };
  return std::all_of(options.items().begin(), options.items().end(), [&](const auto& item) {
    const OptionRow* row = option_row_of(item.key());
    return row != nullptr && row->set(scratch, bytes_of(item.value()), keep);
  });
}

void set_options(const json& options, job_desc_msg_t& message, const Keep& keep) {
  for (const auto& [name, value] : options.items())
    if (const OptionRow* row = option_row_of(name)) row->set(message, bytes_of(value), keep);
}

}  // namespace slurm_plugin
