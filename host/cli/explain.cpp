// SPDX-License-Identifier: Apache-2.0
// fatlink explain: what a finding or an error code means, its cause and its remedy. The text is
// that of docs/findings.md, which the build embeds. Its form:
//
//   <document> ::= { <section> }           a section begins with "## " or "### " and its title
//   <section>  ::= { <row> | <example> | any other line }
//   <row>      ::= "| `CODE`[, `CODE`…] | " one cell for each column that the table's head names
//   <example>  ::= "**Example: `CODE`**", lines, up to the next example or section
//
// "…" at the end of a CODE stands for any text. Threads: one at a time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "error_report.hpp"
#include "options.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

extern char const* const k_findings_document;

namespace {

constexpr std::string_view k_any_text = "…";
constexpr std::string_view k_example_mark = "**Example: `";

/// A row of a table of the document.
struct explanation {
  std::string section = {};             ///< "Symbols"
  std::vector<std::string> codes = {};  ///< usually one
  std::vector<std::pair<std::string, std::string>> facts =
      {};  ///< of the other columns: "Cause", …

  [[nodiscard]] std::string fact(std::string_view column) const
  {
    auto const found =
        std::ranges::find(facts, column, &std::pair<std::string, std::string>::first);
    return found == facts.end() ? std::string() : found->second;
  }
};

struct document {
  std::vector<explanation> explanations = {};
  std::vector<std::pair<std::string, std::string>> examples = {};  ///< a code and its example
};

/// Markdown as text: no backticks, and of links the words only.
std::string plain_text(std::string_view text)
{
  std::string plain;
  for (std::size_t place = 0; place < text.size(); ++place) {
    auto const middle = text[place] == '[' ? text.find("](", place) : text.npos;
    auto const end = middle == text.npos ? text.npos : text.find(')', middle);
    if (end != text.npos) {
      plain += plain_text(text.substr(place + 1, middle - place - 1));
      place = end;
    } else if (text[place] != '`') {
      plain += text[place];
    }
  }
  return plain;
}

/// The cells of "| a | b |". A "|" in backticks belongs to its cell.
std::vector<std::string> cells_of(std::string_view line)
{
  std::vector<std::string> cells;
  bool is_code = false;
  std::string cell;
  for (auto const letter : line.substr(1)) {
    if (letter == '`') is_code = !is_code;
    if (letter == '|' && !is_code)
      cells.emplace_back(detail::trim(std::exchange(cell, {})));
    else
      cell += letter;
  }
  return cells;
}

/// The texts in backticks.
std::vector<std::string> codes_of(std::string_view cell)
{
  std::vector<std::string> codes;
  for (auto start = cell.find('`'); start != cell.npos;) {
    auto const end = cell.find('`', start + 1);
    if (end == cell.npos) break;
    codes.emplace_back(cell.substr(start + 1, end - start - 1));
    start = cell.find('`', end + 1);
  }
  return codes;
}

/// Reads the document line by line.
class document_reader {
 public:
  document read(std::string const& text)
  {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read_line(line);
    return std::move(result_);
  }

 private:
  void read_line(std::string const& line)
  {
    if (line.starts_with("## ") || line.starts_with("### ")) {
      section_ = plain_text(line.substr(line.find(' ') + 1));
      is_example_ = false;
    } else if (line.starts_with(k_example_mark)) {
      result_.examples.emplace_back(codes_of(line).front(), "");
      is_example_ = true;
    } else if (is_example_) {
      add_to_example(line);
    } else if (line.starts_with("| `")) {
      add_row(cells_of(line));
    } else if (line.starts_with("| ")) {
      columns_ = cells_of(line);
    }
  }

  void add_row(std::vector<std::string> const& cells)
  {
    explanation row{.section = section_, .codes = codes_of(cells.front())};
    for (std::size_t column = 1; column < std::min(cells.size(), columns_.size()); ++column)
      row.facts.emplace_back(columns_[column], plain_text(cells[column]));
    result_.explanations.push_back(std::move(row));
  }

  /// Without fences, and without empty lines at its beginning.
  void add_to_example(std::string const& line)
  {
    auto& example = result_.examples.back().second;
    if (!line.starts_with("```") && (!line.empty() || !example.empty())) example += line + '\n';
  }

  document result_;
  std::string section_;
  std::vector<std::string> columns_;
  bool is_example_ = false;
};

document const& findings_document()
{
  static auto const result = document_reader().read(k_findings_document);
  return result;
}

/// Whether `code` of the document stands for `word`.
bool stands_for(std::string_view code, std::string_view word)
{
  if (!code.ends_with(k_any_text)) return code == word;
  return word.starts_with(code.substr(0, code.size() - k_any_text.size()));
}

std::vector<explanation> find_explanations(std::string const& word)
{
  std::vector<explanation> found;
  for (auto const& row : findings_document().explanations)
    if (std::ranges::any_of(row.codes, [&](auto const& code) { return stands_for(code, word); }))
      found.push_back(row);
  return found;
}

[[noreturn]] void refuse_code(std::string const& word)
{
  std::vector<std::string> names;
  for (auto const& [code, meaning] : list_codes()) names.push_back(code);
  fail_usage(fmt::format("unknown code '{}'{}", word, did_you_mean(suggest(names, word))), word,
             "fatlink explain lists the codes");
}

/// `code`: as asked.
nlohmann::json to_json(explanation const& row, std::string const& code)
{
  nlohmann::json json{{"code", code}, {"section", row.section}};
  for (auto const& [key, column] :
       {std::pair("severity", "Severity"), std::pair("meaning", "Meaning"),
        std::pair("cause", "Cause"), std::pair("remedy", "Remedy"),
        std::pair("reported_by", "From"), std::pair("exit_status", "Exit status")})
    json[key] = row.fact(column);
  auto const& examples = findings_document().examples;
  auto const example =
      std::ranges::find(examples, code, [](auto const& pair) { return pair.first; });
  json["example"] = example == examples.end() ? "" : example->second;
  return json;
}

/// The words of `text` after `title`, in lines of at most 100 columns.
void print_fact(char const* title, std::string const& text)
{
  constexpr std::size_t k_width = 86;
  if (text.empty()) return;
  std::istringstream words(text);
  auto line = fmt::format("  {:<10}", title);
  std::size_t width = 0;
  for (std::string word; words >> word;) {
    if (width != 0 && width + 1 + word.size() > k_width) {
      fmt::print("{}\n", std::exchange(line, std::string(12, ' ')));
      width = 0;
    }
    line += ' ' + word;
    width += word.size() + 1;
  }
  fmt::print("{}\n", line);
}

void print_explanation(nlohmann::json const& entry)
{
  fmt::print("{} ({})\n", entry["code"], entry["section"]);
  for (auto const& [title, key] :
       {std::pair("severity", "severity"), std::pair("meaning", "meaning"),
        std::pair("cause", "cause"), std::pair("remedy", "remedy"),
        std::pair("from", "reported_by"), std::pair("status", "exit_status")})
    print_fact(title, entry[key]);
  std::istringstream example(entry["example"].get<std::string>());
  for (std::string line; std::getline(example, line);)
    fmt::print("{}{}\n", line.empty() ? "" : "  ", line);
}

/// One line for each code, cut at 100 columns, under the titles of the document.
void print_all(nlohmann::json const& entries)
{
  constexpr std::size_t k_meaning = 72;
  std::string section;
  for (auto const& entry : entries) {
    if (auto const title = entry["section"].get<std::string>();
        std::exchange(section, title) != title)
      fmt::print("{}\n", title);
    auto meaning = entry["meaning"].get<std::string>();
    if (meaning.empty()) meaning = entry["reported_by"].get<std::string>();
    fmt::print("  {:<24}  {}\n", entry["code"], cut_text(meaning, k_meaning));
  }
}

int explain(std::string const& word, bool json)
{
  auto entries = nlohmann::json::array();
  if (word.empty()) {
    for (auto const& row : findings_document().explanations)
      for (auto const& code : row.codes) entries.push_back(to_json(row, code));
  } else {
    for (auto const& row : find_explanations(word)) entries.push_back(to_json(row, word));
    if (entries.empty()) refuse_code(word);
  }
  if (json)
    print_json("fatlink.explain/1", {{"codes", entries}});
  else if (word.empty())
    print_all(entries);
  else
    for (auto const& entry : entries) print_explanation(entry);
  return k_done;
}

}  // namespace

std::vector<explained_code> list_codes()
{
  std::vector<explained_code> codes;
  for (auto const& row : findings_document().explanations)
    for (auto const& code : row.codes)
      if (std::ranges::find(codes, code, &explained_code::code) == codes.end())
        codes.push_back({code, row.fact("Meaning")});
  return codes;
}

void add_explain(CLI::App& app, int& exit_status)
{
  struct explain_arguments {
    std::string code;
    bool json = false;
  };
  auto arguments = std::make_shared<explain_arguments>();
  auto* verb = app.add_subcommand("explain",
                                  "Explain a finding or an error code: its cause, and what to do.");
  verb->add_option("CODE", arguments->code, "finding id or error code; without it, all are listed");
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer("Example: fatlink explain missing-hook");
  verb->callback(
      [arguments, &exit_status] { exit_status = explain(arguments->code, arguments->json); });
}

}  // namespace fatlink::cli
