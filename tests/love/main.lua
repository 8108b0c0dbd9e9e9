-- Plays the game of examples/love as a player would, and prints what it saw: one line a fact, with tabs between its parts.
-- usage: love FOLDER [MODEL [LIBRARY]], where FOLDER has this file as main.lua and the game's as game.lua
-- Environment: LOVE_PICTURE, the file to write the window to as PNG, and with .rgba as raw pixels; LOVE_LINE, what is typed to the second character behind the first answers
local game = require "game"
local scene = require "scene"
local people, draw = game.people, scene.draw
local lengths, typed, n_silent, begun = {{}, {}, {}}, false, 0, love.timer.getTime()

local function tell(...) print((table.concat({...}, "\t"):gsub("\n", " "))) end

local function tell_all()
  for i, person in ipairs(people) do
    local n = 0
    for _ in pairs(lengths[i]) do n = n + 1 end
    tell("answer", person.name, tostring(person.ended), n, #person.turns / 2, person.asked, person.answer)
  end
end

local function write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

local function leave()
  scene.draw = function(...)
    draw(...)
    love.event.quit()
  end
  love.graphics.captureScreenshot(function(image)
    write(os.getenv "LOVE_PICTURE", image:encode("png"):getString())
    write(os.getenv "LOVE_PICTURE" .. ".rgba", image:getString())
  end)
end

local function play()
  if game.problem then return tell("problem", game.problem), leave() end
  for i, person in ipairs(people) do
    if not person.ended and love.timer.getTime() - begun < 3000 then return end
  end
  if not typed then
    typed = true
    love.keypressed "tab"
    love.textinput((os.getenv "LOVE_LINE" or "Is it sharp?") .. "x")
    love.keypressed "backspace"
    people[2].ended = nil
    return love.keypressed "return"
  end
  n_silent = n_silent + 1
  if n_silent < 100 then return end
  tell_all()
  leave()
end

scene.draw = function(...)
  draw(...)
  for i, person in ipairs(people) do
    if person.answer and person.talks then lengths[i][#person.answer] = true end
  end
  play()
end
