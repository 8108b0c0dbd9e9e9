-- Inlay's requests for LuaJIT: hand conversations over, compute for a part of each frame, collect texts.
-- What fails raises an error with a text for people; pcall catches it.
local ffi = require "ffi"
local inlay = {}
local Engine = {}
Engine.__index = Engine
local C, err

local function check(status, what)
  if status == C.INLAY_OK then return end
  error(("%s: %s (%s)"):format(what, ffi.string(err.message), ffi.string(C.inlay_status_name(status))), 0)
end

-- A struct of the C interface with these fields. A name that it does not have is an error.
local function new(name, fields)
  local made = ffi.new(name)
  made.struct_size = ffi.sizeof(made)
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

-- library: the path of libinlay.so. header: what make_header.sh wrote. Once in a program.
function inlay.open(library, header)
  ffi.cdef(header)
  C = ffi.load(library)
  err = ffi.new "inlay_error"
  local version = C.inlay_abi_version()
  local major, minor = bit.rshift(version, 16), bit.band(version, 0xffff)
  if major ~= C.INLAY_ABI_MAJOR or minor < C.INLAY_ABI_MINOR then
    error(("%s has interface %d.%d, the header %d.%d"):format(library, major, minor, C.INLAY_ABI_MAJOR, C.INLAY_ABI_MINOR), 0)
  end
end

-- params: fields of inlay_load_params.
function inlay.load(model, params)
  local engine, queue = ffi.new "inlay_engine*[1]", ffi.new "inlay_queue*[1]"
  check(C.inlay_load(model, #model, new("inlay_load_params", params), engine, err), model)
  local self = setmetatable({engine = ffi.gc(engine[0], C.inlay_free)}, Engine)
  check(C.inlay_queue_create(self.engine, nil, queue, err), "no queue")
  self.queue = ffi.gc(queue[0], C.inlay_queue_free)
  self.events, self.tokens, self.text = ffi.new "inlay_request_event[16]", ffi.new "inlay_token_logprob[256]", ffi.new "char[4096]"
  self.n, self.id = ffi.new "size_t[1]", ffi.new "uint64_t[1]"
  self.budget, self.info = new "inlay_run_params", new "inlay_run_info"
  return self
end

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- messages: an array of {role = ..., content = ...}. user: a number that comes back with each text. session, sampler: fields of
-- inlay_session_params and inlay_sampler_params. Nothing is computed here.
function Engine:submit(messages, user, session, sampler)
  local json = {}
  for i, message in ipairs(messages) do json[i] = ('{"role":%s,"content":%s}'):format(quoted(message.role), quoted(message.content)) end
  json = "[" .. table.concat(json, ",") .. "]"
  local drawing, limits = new("inlay_sampler_params", sampler), new("inlay_session_params", session)
  limits.sampler = drawing
  self.held = {json, drawing, limits}  -- C's pointers do not keep them
  check(C.inlay_submit(self.queue, new("inlay_request", {conversation = json, conversation_len = #json, session_params = limits, user = user}), self.id, err),
        "not taken")
end

-- Computes for about so many microseconds. Returns the number of requests that have not ended.
function Engine:run(budget_us)
  self.budget.budget_us = budget_us
  check(C.inlay_run(self.engine, self.budget, self.info, err), "cannot compute")
  return self.info.n_requests
end

-- What has come since the last call, an array of {user, text} and, for each request last, {user, ended, failed}: its finish reason, and
-- the message where it failed.
function Engine:poll()
  local found = {}
  check(C.inlay_poll(self.queue, self.events, 16, ffi.sizeof "inlay_request_event", self.tokens, 256, self.text, 4096, self.n, err), "cannot poll")
  for i = 0, tonumber(self.n[0]) - 1 do
    local event = self.events[i]
    local text = ffi.string(self.text + event.first_byte, event.text_bytes)
    if event.kind == C.INLAY_REQUEST_EVENT_TOKENS then
      found[#found + 1] = {user = tonumber(event.user), text = text}
    elseif event.kind == C.INLAY_REQUEST_EVENT_END then
      local failed = event.finish_reason == C.INLAY_FINISH_ERROR
      found[#found + 1] = {user = tonumber(event.user), ended = event.finish_reason, failed = failed and text or nil}
    end
  end
  return found
end

return inlay
