// What a template can call by name.
#pragma once

#include <span>
#include <string_view>

#include "src/template/object.h"
#include "src/template/run.h"

namespace inlay::tmpl {

using Filter = Result<Value> (*)(Run&, const Value&, const Arguments&);
using Test = Result<bool> (*)(Run&, const Value&, const Arguments&);
using Method = Result<Value> (*)(Run&, const Value& self, const Arguments&);

template <class Function>
struct Named {
  std::string_view name;
  Function function;
};

Filter find_filter(std::string_view name);  // null if there is none
Test find_test(std::string_view name);
Result<Value> apply_filter(Run& run, std::string_view name, const Value& value, const Arguments& arguments);
bool is_iterable(const Value& value);
Result<bool> apply_test(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

// The tables that find_filter searches, one a source file.
std::span<const Named<Filter>> text_filters();
std::span<const Named<Filter>> layout_filters();
std::span<const Named<Filter>> sequence_filters();
std::span<const Named<Filter>> mapping_filters();
std::span<const Named<Filter>> number_filters();
Result<Value> to_json(Run& run, const Value& value, const Arguments& arguments);  // the filter tojson

enum class Access : uint8_t { absent, callable, forbidden, unsupported };
struct MethodEntry {
  Access access = Access::absent;
  Method function = nullptr;
};
// What Python's types have under `name`; changing methods are forbidden, as in Jinja's immutable sandbox.
MethodEntry find_method(const Value& self, std::string_view name);
MethodEntry find_text_method(std::string_view name);

// Functions that exist without being passed in; null if there is none of that name.
Object* make_global(Run& run, std::string_view name);

// value.name and value[key]. What does not exist is an undefined value.
Result<Value> attribute_of(Run& run, const Value& value, std::string_view name);
Result<Value> item_of(Run& run, const Value& value, const Value& key);
// `a.b.0` from outside to inside, or an index; what is undefined on the way is `otherwise` if given.
Result<Value> path_of(Run& run, const Value& value, const Value& path, const Value* otherwise);
Result<Value> call_value(Run& run, const Value& callee, const Arguments& arguments);

Result<Value> arithmetic(Run& run, std::string_view sign, const Value& a, const Value& b);
// Elements begin:end:step, Python's rules; absent bounds are none.
Result<Value> slice_of(Run& run, const Value& value, const Value (&bounds)[3]);

}  // namespace inlay::tmpl
