// SPDX-License-Identifier: Apache-2.0
// JSON with comments. nlohmann's parser does not report positions: an iterator counts the bytes it
// has read, and a cursor that trails behind tracks the line and column of each token.
#include "core/spec/file/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <vector>

namespace dts::spec {
namespace {

using nlohmann::json;

struct CountingIterator {
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** furthest = nullptr;

  reference operator*() const { return *at; }

  CountingIterator& operator++() {
    *furthest = ++at;
    return *this;
  }

  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }

  bool operator==(const CountingIterator& other) const { return at == other.at; }

  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] Spot spot() const { return spot_; }

  void advance_to(std::size_t byte) {
    for (; at_ < byte && at_ < text_.size(); ++at_)
      if (text_[at_] == '\n') {
        ++spot_.line;
        spot_.column = 1;
      } else if ((static_cast<unsigned char>(text_[at_]) & 0xC0U) != 0x80) {
        ++spot_.column;  // the first byte of a character
      }
  }

  // Skips blanks, separators and comments up to the next token.
  void skip() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.substr(0, 2) == "//")
        advance_to(end_of(rest, "\n"));
      else if (rest.substr(0, 2) == "/*")
        advance_to(end_of(rest, "*/"));
      else if (rest.find_first_of(" \t\r\n,:") == 0)
        advance_to(at_ + 1);
      else
        return;
    }
  }

 private:
  std::size_t end_of(std::string_view rest, std::string_view mark) const {
    const std::size_t end = rest.find(mark, mark == "*/" ? 2 : 0);
    return end == std::string_view::npos ? text_.size() : at_ + end + mark.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Spot spot_{1, 1};
};

// Builds the value and records the positions of its parts (nlohmann's SAX interface).
class Builder {
 public:
  Builder(std::string_view text, const std::string& file, Diagnostics& problems)
      : text_(text), file_(file), problems_(problems), furthest_(text.data()), cursor_(text) {}

  bool parse() {
    const CountingIterator first{text_.data(), &furthest_};
    const CountingIterator last{text_.data() + text_.size(), &furthest_};
    return json::sax_parse(first, last, this, json::input_format_t::json, true, true);
  }

  json take_value() { return std::move(root_); }

  Spots take_spots() { return std::move(spots_); }

  bool null() { return add(nullptr, 0); }

  bool boolean(bool value) { return add(value, 0); }

  // The end of a number is only known once the byte after it has been read.
  bool number_integer(std::int64_t value) { return add(value, 1); }

  bool number_unsigned(std::uint64_t value) { return add(value, 1); }

  bool number_float(double value, const std::string&) { return add(value, 1); }

  bool string(std::string& value) { return add(std::move(value), 0); }

  bool binary(json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(json::object()); }

  bool start_array(std::size_t) { return open(json::array()); }

  bool end_object() { return close(); }

  bool end_array() { return close(); }

  bool key(std::string& name) {
    const Spot spot = next();
    const std::string pointer = member_of(open_.back().pointer, name);
    if (!spots_.keys.emplace(pointer, spot).second)
      problems_.push_back(at_spot(
          text_,
          file_,
          spot,
          {Errc::invalid, fmt::format("key `{}` is given twice", name), "omit one of both"}));
    open_.back().key = std::move(name);
    return true;
  }

  template <class Exception>
  bool parse_error(std::size_t byte, const std::string&, const Exception& error) {
    std::string what = error.what();  // "[json.exception.parse_error.101] parse error at ...: ..."
    if (const std::size_t colon = what.find(": "); colon != std::string::npos)
      what.erase(0, colon + 2);
    Cursor cursor(text_);
    cursor.advance_to(byte > 0 ? byte - 1 : 0);
    problems_.push_back(
        at_spot(text_, file_, cursor.spot(), {Errc::invalid, "not JSON: " + what, ""}));
    return false;
  }

 private:
  struct Open {
    json* value;
    std::string pointer;
    std::string key;  // of the next member
  };

  // Start of the token just read; `ahead` bytes of the following one have been consumed, too.
  Spot next(std::size_t ahead = 0) {
    cursor_.skip();
    const Spot spot = cursor_.spot();
    cursor_.advance_to(static_cast<std::size_t>(furthest_ - text_.data()) - ahead);
    return spot;
  }

  json* put(json value, Spot spot) {
    if (open_.empty()) {
      spots_.values[""] = spot;
      root_ = std::move(value);
      return &root_;
    }
    Open& around = open_.back();
    const bool is_array = around.value->is_array();
    const std::string key = is_array ? std::to_string(around.value->size()) : around.key;
    spots_.values[member_of(around.pointer, key)] = spot;
    if (is_array) return &around.value->emplace_back(std::move(value));
    return &((*around.value)[key] = std::move(value));
  }

  bool add(json value, std::size_t ahead) {
    put(std::move(value), next(ahead));
    return true;
  }

  bool open(json value) {
    const Spot spot = next();
    if (open_.size() == k_deepest) {
      problems_.push_back(at_spot(
          text_,
          file_,
          spot,
          {Errc::invalid, fmt::format("nested deeper than {}", k_deepest), "write it flatter"}));
      return false;
    }
    std::string pointer;
    if (!open_.empty()) {
      const Open& around = open_.back();
      pointer =
          member_of(around.pointer,
                    around.value->is_array() ? std::to_string(around.value->size()) : around.key);
    }
    open_.push_back({put(std::move(value), spot), std::move(pointer), ""});
    return true;
  }

  bool close() {
    next();
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics& problems_;
  const char* furthest_;
  Cursor cursor_;
  json root_;
  std::vector<Open> open_;
  Spots spots_;
};

}  // namespace

std::optional<Document> parse_json(std::string_view text,
                                   const std::string& file,
                                   Diagnostics& problems) {
  if (auto problem = unreadable(text, file)) {
    problems.push_back(*std::move(problem));
    return std::nullopt;
  }
  Builder builder(text, file, problems);
  if (!builder.parse()) return std::nullopt;
  json value = builder.take_value();
  return Document(file, std::string(text), std::move(value), builder.take_spots());
}

}  // namespace dts::spec
