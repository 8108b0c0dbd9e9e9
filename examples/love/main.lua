-- Three characters that talk, at 60 frames a second: the model computes for 4 ms of each frame.
-- usage: love examples/love [MODEL [LIBRARY]]
local inlay = require "inlay"
local scene = require "scene"

local FRAME, BUDGET_US = 1 / 60, 4000
local MEMORY = 4  -- turns that a character remembers
local people = {
  {name = "Mira", role = "a kind innkeeper at an inn in Oakvale", first = "Do you have a room?"},
  {name = "Borin", role = "a proud blacksmith at the forge of Oakvale", first = "I need a sword."},
  {name = "Elwin", role = "an old wizard in a tower near Oakvale", first = "Can you see my future?"},
}
local game = {people = people, chosen = 1, line = "", status = "the model is loaded ..."}
local engine, model, library, n_asked
-- Milliseconds of frames, and of the engine's share of them.
local talking, silent = {name = "talking", frames = {}, shares = {}}, {name = "silent", frames = {}, shares = {}}

-- What fails is shown, until the next key is pressed. Returns whether it did not.
local function try(what, ...)
  local good, problem = pcall(what, ...)
  game.problem = game.problem or not good and tostring(problem) or nil
  return good
end

local function ask(person, line)
  person.turns = person.turns or {}
  local messages = {{role = "system", content = ("You are %s, %s. Answer in one short sentence."):format(person.name, person.role)}}
  for i = math.max(1, #person.turns - 2 * MEMORY + 1), #person.turns do messages[#messages + 1] = person.turns[i] end
  messages[#messages + 1] = {role = "user", content = line}
  n_asked = n_asked + 1
  engine:submit(messages, person.number, {max_tokens = 120, stream = n_asked}, {temperature = 0.7, top_p = 0.95, seed = 5})
  table.insert(person.turns, messages[#messages])
  person.asked, person.answer, person.talks = line, "", true
end

local function begin()
  game.status = "there is no engine"
  local folder, header = love.filesystem.getSource(), love.filesystem.read "inlay_cdef.h"
  if not header then error("inlay_cdef.h is not there: examples/love/make_header.sh writes it", 0) end
  inlay.open(library or folder .. "/../../build/native/lib/libinlay.so", header)
  engine = inlay.load(model or folder .. "/../model/tales.gguf", {max_sessions = #people, n_threads = 1})
  n_asked = 0
  for i, person in ipairs(people) do
    person.number = i
    ask(person, person.first)
  end
end

local function compute()
  local left = engine:run(BUDGET_US)
  for _, event in ipairs(engine:poll()) do
    local person = people[event.user]
    person.answer = person.answer .. (event.text or "")
    if event.ended then
      person.talks, person.ended = false, event.ended
      game.problem = event.failed and person.name .. ": " .. event.failed or game.problem
      table.insert(person.turns, {role = "assistant", content = person.answer})
    end
  end
  game.status = ("%d of 3 talk"):format(left)
end

function love.load(arguments)
  model, library = arguments[1], arguments[2]
  love.keyboard.setKeyRepeat(true)
  scene.load()
end

function love.textinput(text) game.line = game.line .. text end

function love.mousepressed(x) game.chosen = math.min(3, math.floor(x / love.graphics.getWidth() * 3) + 1) end

function love.keypressed(key)
  game.problem = nil
  if key == "escape" then love.event.quit() end
  if key == "tab" then game.chosen = game.chosen % #people + 1 end
  if key == "backspace" then game.line = scene.without_last(game.line) end
  local person = people[game.chosen]
  if key ~= "return" or game.line == "" or person.talks or not engine then return end
  if try(ask, person, game.line) then game.line = "" end
end

local function update(n_frame)
  if n_frame == 2 then try(begin) end  -- the first frame is seen while the model is loaded
  if engine and not try(compute) then engine, game.status = nil, "the engine has stopped" end
end

local function ascending(times)
  table.sort(times)
  return ("p50 %.2f p99 %.2f longest %.2f"):format(times[math.ceil(#times / 2)], times[math.ceil(#times * 0.99)], times[#times])
end

function love.quit()
  for _, times in ipairs {talking, silent} do
    if #times.frames > 0 then print(("%s: %d frames, ms: engine %s; frame %s"):format(times.name, #times.frames, ascending(times.shares), ascending(times.frames))) end
  end
end

-- LÖVE's own loop with times: a frame's goes from its begin to its picture, and the rest of its 16.7 ms is slept.
function love.run()
  love.load(love.arg.parseGameArguments(arg))
  local due, n_frame = love.timer.getTime(), 0
  return function()
    love.event.pump()
    for name, a, b, c, d, e, f in love.event.poll() do
      if name == "quit" then return love.quit() or a or 0 end
      love.handlers[name](a, b, c, d, e, f)
    end
    n_frame = n_frame + 1
    local start, times = love.timer.getTime(), (people[1].talks or people[2].talks or people[3].talks) and talking or silent
    update(n_frame)
    local computed = love.timer.getTime()
    scene.draw(game, computed)
    love.graphics.present()
    local now = love.timer.getTime()
    if n_frame > 2 then  -- the model is loaded in the second one
      table.insert(times.shares, (computed - start) * 1e3)
      table.insert(times.frames, (now - start) * 1e3)
    end
    due = math.max(due + FRAME, now)
    love.timer.sleep(due - now)
  end
end

return game
