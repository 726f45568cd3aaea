// SPDX-License-Identifier: Apache-2.0
#include "core/script/template/render.hpp"

#include "core/base/text/html.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/script/template/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace dts::script {
namespace {

using Kind = TemplateNode::Kind;
using nlohmann::json;

constexpr std::size_t k_most_bytes = std::size_t{16} << 20;
constexpr std::size_t k_most_tags = 1'000'000;
constexpr std::size_t k_deepest_partial = 64;

bool is_false(const json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) ||
         (value.is_array() && value.empty()) ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_binary()) return {value.get_binary().begin(), value.get_binary().end()};
  if (value.is_null()) return {};
  return json_line(value);
}

// Indents each line of a partial like its tag, which is alone on its line.
std::string indented(std::string_view text, const std::string& indent) {
  std::string all;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin) all += indent;
    all += c;
    at_begin = c == '\n';
  }
  return all;
}

// A template being rendered.
struct Source {
  Template text;
  TemplateTree tree;
};

class Renderer {
 public:
  Renderer(const json& data, const Partials& partials, Unknown unknown, TemplateOutput& output)
      : stack_{&data}, partials_(partials), unknown_(unknown), output_(output) {}

  Result<void> render(Template text) {
    DTS_ASSIGN(const Source* source, parsed(std::move(text)));
    return render(*source, source->tree);
  }

 private:
  // Keeps parsed templates until the end, because the call stack refers to their nodes.
  Result<const Source*> parsed(Template text) {
    const std::string key = text.name + '\0' + text.text;
    if (const auto known = sources_.find(key); known != sources_.end()) return &known->second;
    DTS_ASSIGN(TemplateTree tree, parse_template(text.text, text.name));
    return &sources_.emplace(key, Source{std::move(text), std::move(tree)}).first->second;
  }

  static tl::unexpected<Error> bad(const Source& in,
                                   const TemplateNode& node,
                                   std::string message,
                                   std::string hint = {}) {
    return bad_template(in.text.text, in.text.name, node.at, std::move(message), std::move(hint));
  }

  // Adds the position of the tag to an error of the output.
  static Result<void> placed(const Source& in, const TemplateNode& node, const Result<void>& done) {
    if (done) return {};
    return bad(in, node, node.text + ": " + done.error().message, done.error().hint);
  }

  // Line by line, so that an error has the line's place.
  Result<void> render_text(const Source& in, const TemplateNode& node) {
    const std::string_view text = node.text;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
      end = std::min(text.find('\n', at), text.size() - 1) + 1;
      if (const auto done = output_.literal(text.substr(at, end - at)); !done)
        return bad_template(
            in.text.text, in.text.name, node.at + at, done.error().message, done.error().hint);
    }
    return {};
  }

  Result<void> render(const Source& in, const TemplateTree& nodes) {
    for (const TemplateNode& node : nodes) {
      if (++tags_ > k_most_tags || output_.text().size() > k_most_bytes)
        return bad(in, node, "the template does not come to an end");
      DTS_TRY(render(in, node));
    }
    return {};
  }

  Result<void> render(const Source& in, const TemplateNode& node) {
    switch (node.kind) {
      case Kind::text:
        return render_text(in, node);
      case Kind::partial:
        return render_partial(in, node);
      default:
        break;
    }
    const json* value = find(node.text);
    if (value == nullptr && unknown_ == Unknown::is_error) return unknown_name(in, node);
    static const json k_none;
    if (value == nullptr) value = &k_none;
    if (node.kind == Kind::section) return render_section(in, node, *value);
    if (node.kind == Kind::inverted)
      return is_false(*value) ? render(in, node.children) : Result<void>();
    return placed(in, node, insert(node, *value));
  }

  Result<void> insert(const TemplateNode& node, const json& value) {
    if (unknown_ == Unknown::is_error && value.is_structured())
      return fail(Errc::invalid,
                  "is a list or an object, not a text",
                  fmt::format("write {{{{#{0}}}}}...{{{{/{0}}}}}", node.text));
    const std::string text = text_of(value);
    if (node.kind == Kind::value) return output_.value(text);
    return value.is_binary() ? output_.finished(text) : output_.raw(text);
  }

  Result<void> render_section(const Source& in, const TemplateNode& node, const json& value) {
    if (is_false(value)) return {};
    if (!value.is_array()) return render_in(in, node, value);
    for (const json& one : value) DTS_TRY(render_in(in, node, one));
    return {};
  }

  Result<void> render_in(const Source& in, const TemplateNode& node, const json& value) {
    stack_.push_back(&value);
    auto done = render(in, node.children);
    stack_.pop_back();
    return done;
  }

  Result<void> render_partial(const Source& in, const TemplateNode& node) {
    DTS_ASSIGN(auto found, partials_ ? partials_(node.text) : std::optional<Template>());
    if (!found && unknown_ == Unknown::is_error)
      return bad(in, node, fmt::format("there is no template `{}`", node.text));
    if (!found) return {};
    if (++depth_ > k_deepest_partial)
      return bad(in, node, fmt::format("partials in each other deeper than {}", k_deepest_partial));
    found->text = indented(found->text, node.indent);
    DTS_ASSIGN(const Source* source, parsed(*std::move(found)));
    auto done = render(*source, source->tree);
    --depth_;
    return done;
  }

  // The innermost value that has the first part of `name` decides (specification, interpolation:
  // "Dotted Names - Context Precedence"). nullptr if there is none.
  [[nodiscard]] const json* find(const std::string& name) const {
    if (name == ".") return stack_.back();
    const std::vector<std::string> parts = split(name, '.');
    const json* value = nullptr;
    for (auto context = stack_.rbegin(); context != stack_.rend() && value == nullptr; ++context)
      value = member(**context, parts.front());
    for (std::size_t i = 1; i < parts.size() && value != nullptr; ++i)
      value = member(*value, parts[i]);
    return value;
  }

  static const json* member(const json& object, const std::string& name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }

  tl::unexpected<Error> unknown_name(const Source& in, const TemplateNode& node) const {
    std::set<std::string> names;
    for (const json* context : stack_)
      if (context->is_object())
        for (const auto& [name, value] : context->items()) names.insert(name);
    const std::vector<std::string> known(names.begin(), names.end());
    const auto near = nearest(node.text, known);
    return bad(in,
               node,
               fmt::format("unknown name `{}`", node.text),
               near ? fmt::format("did you mean `{}`?", *near) : "known are: " + join(known, ", "));
  }

  std::vector<const json*> stack_;
  const Partials& partials_;
  Unknown unknown_;
  TemplateOutput& output_;
  std::map<std::string, Source> sources_;
  std::size_t tags_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

json finished_text(std::string_view text) {
  return json::binary({text.begin(), text.end()});
}

Result<void> render_template(const Template& main,
                             const json& data,
                             const Partials& partials,
                             Unknown unknown,
                             TemplateOutput& output) {
  return Renderer(data, partials, unknown, output).render(main);
}

Result<void> HtmlOutput::literal(std::string_view text) {
  text_ += text;
  return {};
}

Result<void> HtmlOutput::value(std::string_view text) {
  for (const char c : text) append_html(text_, c);
  return {};
}

Result<void> HtmlOutput::raw(std::string_view text) {
  return literal(text);
}

Result<void> HtmlOutput::finished(std::string_view text) {
  return literal(text);
}

}  // namespace dts::script
