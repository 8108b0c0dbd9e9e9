#include "examples/server/field_reader.h"

namespace inlay::server {

namespace {

std::string shown(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? std::to_string(whole) : json_text(Json(value));
}

std::string cut(const std::string& text) { return text.size() <= 60 ? text : text.substr(0, 57) + "..."; }

}  // namespace

FieldReader::FieldReader(const Json& object, std::string prefix) : object_(object), prefix_(std::move(prefix)) {
  if (!object.is_object()) refuse(Refusal{400, (prefix_.empty() ? "the body" : prefix_.substr(0, prefix_.size() - 1)) + " is not an object", "", ""});
}

void FieldReader::refuse(const Refusal& refusal) {
  if (!refusal_) refusal_ = refusal;
}

void FieldReader::refuse(const std::string& name, const std::string& why, const char* code) {
  refuse(Refusal{400, "'" + prefix_ + cut(name) + "' " + why, prefix_ + cut(name), code});
}

const Json* FieldReader::take(const std::string& name) {
  known_.insert(name);
  if (is_refused()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void FieldReader::text(const std::string& name, std::string& into) {
  const Json* value = take(name);
  if (!value) return;
  if (!value->is_string()) return refuse(name, "is not a string");
  into = value->get<std::string>();
}

void FieldReader::truth(const std::string& name, bool& into) {
  const Json* value = take(name);
  if (!value) return;
  if (!value->is_boolean()) return refuse(name, "is neither true nor false");
  into = value->get<bool>();
}

void FieldReader::number(const std::string& name, double low, double high, float& into) {
  const Json* value = take(name);
  if (!value) return;
  const double given = value->is_number() ? value->get<double>() : low - 1;
  if (!(given >= low && given <= high)) return refuse(name, "is not a number from " + shown(low) + " to " + shown(high));
  into = static_cast<float>(given);
}

void FieldReader::integer(const std::string& name, int64_t low, int64_t high, int64_t& into) {
  const Json* value = take(name);
  if (!value) return;
  const bool fits = value->is_number_unsigned() ? value->get<uint64_t>() <= INT64_MAX : value->is_number_integer();
  const int64_t given = fits ? value->get<int64_t>() : 0;
  if (!fits || given < low || given > high) return refuse(name, "is not an integer from " + std::to_string(low) + " to " + std::to_string(high));
  into = given;
}

void FieldReader::ignore(std::initializer_list<const char*> names) { known_.insert(names.begin(), names.end()); }

void FieldReader::only(const std::string& name, const Json& value) {
  const Json* given = take(name);
  if (given && *given != value) refuse(name, "can only be " + json_text(value) + " here", "unsupported");
}

void FieldReader::none(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (take(name)) refuse(name, "is not supported", "unsupported");
}

std::optional<Refusal> FieldReader::end() {
  if (is_refused()) return refusal_;
  for (const auto& [name, value] : object_.items())
    if (known_.count(name) == 0 && !value.is_null()) refuse(name, "is not known", "unknown_field");
  return refusal_;
}

}  // namespace inlay::server
