// Reads the fields of a request's body one after the other. The first mistake is kept, by the field's name; a field that nobody asked
// for is one. A field that is null is as if it were not there.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "examples/server/json.h"
#include "examples/server/refusal.h"

namespace inlay::server {

class FieldReader {
 public:
  // `prefix` stands before the names in messages, such as `messages[0].`.
  explicit FieldReader(const Json& object, std::string prefix = "");

  const Json* take(const std::string& name);  // nullptr: not there
  void text(const std::string& name, std::string& into);
  void truth(const std::string& name, bool& into);
  void number(const std::string& name, double low, double high, float& into);
  void integer(const std::string& name, int64_t low, int64_t high, int64_t& into);
  void ignore(std::initializer_list<const char*> names);
  void only(const std::string& name, const Json& value);  // refused if it is anything else
  void none(std::initializer_list<const char*> names);    // refused if they are there

  void refuse(const std::string& name, const std::string& why, const char* code = "");
  void refuse(const Refusal& refusal);
  bool is_refused() const { return refusal_.has_value(); }
  std::optional<Refusal> end();  // with unknown fields looked for

 private:
  const Json& object_;
  std::string prefix_;
  std::set<std::string> known_;
  std::optional<Refusal> refusal_;
};

}  // namespace inlay::server
