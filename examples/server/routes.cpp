// What is where: checks before a body is read, and the answers that need no work.
#include <array>

#include "examples/server/json.h"
#include "examples/server/service.h"

namespace inlay::server {

namespace {

struct Route {
  const char* path;
  const char* methods;
  bool needs_key;
};

constexpr const char *kGet = "GET, HEAD", *kPost = "POST";
constexpr std::array<Route, 7> kRoutes = {{{"/health", kGet, false},
                                           {"/metrics", kGet, true},
                                           {"/v1/models", kGet, true},
                                           {"/v1/chat/completions", kPost, true},
                                           {"/v1/completions", kPost, true},
                                           {"/v1/embeddings", kPost, true},
                                           {"/v1/models/", kGet, true}}};  // and what follows

// What a page may send; the x-stainless-* are of OpenAI's client.
constexpr const char* kPageHeaders =
    "authorization, content-type, x-requested-with, user-agent, openai-organization, openai-project, x-stainless-arch, x-stainless-helper-method, "
    "x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, "
    "x-stainless-timeout";

constexpr std::string_view kOneModel = "/v1/models/";

std::optional<Route> find_route(const std::string& path) {
  for (const Route& route : kRoutes)
    if (path == route.path || (route.path == kOneModel && path.rfind(kOneModel, 0) == 0)) return route;
  if (find_page_file(path)) return Route{path.c_str(), kGet, false};
  return std::nullopt;
}

bool takes(const Route& route, std::string_view method) { return route.methods == kPost ? method == kPost : method == "GET" || method == "HEAD"; }

std::optional<Refusal> check_content(const HttpRequest& request) {
  const std::string *type = request.header("content-type"), *coding = request.header("content-encoding");
  const std::string_view named = type ? std::string_view(*type).substr(0, type->find_first_of("; \t")) : "";
  if (!same_word(named, "application/json")) return Refusal{415, "the Content-Type is not application/json", "", ""};
  if (coding && !same_word(*coding, "identity")) return Refusal{415, "a Content-Encoding is not supported", "", ""};
  if (!request.has_body) return Refusal{400, "the request has no body", "", ""};
  return std::nullopt;
}

// %41 is A; a percent sign of another kind stays.
std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += is_code ? static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

}  // namespace

std::optional<Refusal> Service::check_head(const HttpRequest& request) {
  if (std::optional<Refusal> refusal = check_host(request, access_)) return refusal;
  if (request.method == "OPTIONS" && !allowed_origin(request, access_).empty()) return std::nullopt;
  const std::optional<Route> route = find_route(request.path);
  if (!route) return Refusal{404, "there is nothing at this path", "", "not_found"};
  if (!takes(*route, request.method))
    return Refusal{405, "the method is none of: " + std::string(route->methods), route->methods, "method_not_allowed"};
  if (route->needs_key)
    if (std::optional<Refusal> refusal = check_key(request, access_)) return refusal;
  return request.method == "POST" ? check_content(request) : std::nullopt;
}

void Service::add_headers(const HttpRequest& request, std::string& head) {
  if (find_page_file(request.path))
    head +=
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'\r\n";
  if (access_.origins.empty()) return;
  head += "Vary: Origin\r\n";
  const std::string origin = allowed_origin(request, access_);
  if (origin.empty()) return;
  head += "Access-Control-Allow-Origin: " + origin + "\r\n";
  if (request.method == "OPTIONS")
    head += std::string("Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Allow-Headers: ") + kPageHeaders + "\r\nAccess-Control-Max-Age: 600\r\n";
}

void Service::handle(Connection& connection) {
  const HttpRequest& request = connection.request();
  if (request.method == "OPTIONS") return http_->respond(connection, {204, "", ""});
  if (request.method != "POST") return get(connection, request.path);
  if (closes_at_ > 0) return http_->refuse(connection, {503, "the server is closing", "", "closing"});
  if (request.path == "/v1/embeddings") return begin_embed(connection);
  begin_generate(connection, request.path == "/v1/chat/completions");
}

std::string Service::model_json() const {
  Json out = {{"id", model_.name}, {"object", "model"}, {"created", model_.loaded}, {"owned_by", "inlay"}};
  out["context_length"] = model_.info.n_context;
  return json_text(out);
}

void Service::get(Connection& connection, const std::string& path) {
  if (const PageFile* file = find_page_file(path)) return http_->respond(connection, {200, file->type, file->text});
  if (path == "/health")
    return http_->respond(connection, {is_lost_ ? 503 : 200, "application/json", is_lost_ ? R"({"status":"error"})" : R"({"status":"ok"})"});
  if (path == "/v1/models") return http_->respond(connection, {200, "application/json", R"({"object":"list","data":[)" + model_json() + "]}"});
  if (path == "/metrics") {
    metrics_.n_connections = http_->n_connections();
    metrics_.n_working = works_.size();
    return http_->respond(connection, {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(model_)});
  }
  if (decoded(path.substr(kOneModel.size())) == model_.name) return http_->respond(connection, {200, "application/json", model_json()});
  http_->refuse(connection, {404, "there is no such model here, only '" + model_.name + "'", "model", "model_not_found"});
}

}  // namespace inlay::server
