-- Draws the evening, the characters, what they say and the line that is typed.
local utf8 = require "utf8"
local scene = {}
local WIDTH, HEIGHT, GROUND = 960, 540, 440
local looks = {
  {cloak = {0.75, 0.35, 0.36}, hair = {0.45, 0.26, 0.16}},
  {cloak = {0.36, 0.42, 0.50}, hair = {0.20, 0.17, 0.16}},
  {cloak = {0.42, 0.36, 0.68}, hair = {0.86, 0.86, 0.88}, hat = true},
}
local fonts, sky, stars

function scene.load()
  fonts = {small = love.graphics.newFont(13), text = love.graphics.newFont(16), name = love.graphics.newFont(18)}
  sky = love.graphics.newMesh({{0, 0, 0, 0, 0.07, 0.08, 0.18}, {WIDTH, 0, 0, 0, 0.07, 0.08, 0.18}, {WIDTH, GROUND, 0, 0, 0.38, 0.24, 0.38},
                               {0, GROUND, 0, 0, 0.38, 0.24, 0.38}})
  stars = {}
  for i = 1, 60 do stars[i] = {love.math.random(WIDTH), love.math.random(GROUND - 100)} end
end

-- A model may write bytes that are no UTF-8, which LÖVE refuses to draw.
local function drawable(text)
  local length, wrong = utf8.len(text)
  while not length do
    text = text:sub(1, wrong - 1) .. "?" .. text:sub(wrong + 1)
    length, wrong = utf8.len(text)
  end
  return text
end

function scene.without_last(line)
  local last = utf8.offset(line, -1)
  return last and line:sub(1, last - 1) or ""
end

local function write(text, font, x, y, width, colour, align)
  love.graphics.setFont(fonts[font])
  love.graphics.setColor(colour)
  love.graphics.printf(drawable(text), x, y, width, align or "left")
end

-- What does not fit loses its begin.
local function last_lines(text, font, width, n)
  local _, lines = fonts[font]:getWrap(drawable(text), width)
  return table.concat(lines, "\n", math.max(1, #lines - n + 1))
end

local function draw_person(person, look, x, time)
  local g, y = love.graphics, GROUND - 6 + (person.talks and 3 * math.sin(time * 6) or 0)
  g.setColor(look.cloak)
  g.ellipse("fill", x, y, 52, 58)
  g.setColor(look.hair)
  g.circle("fill", x, y - 78, 35)
  g.setColor(0.95, 0.80, 0.68)
  g.ellipse("fill", x, y - 72, 28, 30)
  if look.hat then
    g.setColor(look.cloak)
    g.polygon("fill", x - 42, y - 92, x + 42, y - 92, x + 8, y - 155)
  end
  g.setColor(0.2, 0.15, 0.15)
  g.circle("fill", x - 10, y - 76, 3)
  g.circle("fill", x + 10, y - 76, 3)
  g.ellipse("fill", x, y - 58, 8, person.talks and 3 + 2.5 * math.sin(time * 18) or 1)
end

local function draw_bubble(person, x, is_chosen)
  local g, width, height, y = love.graphics, 284, 200, 50
  g.setColor(0.98, 0.96, 0.90, person.answer and 1 or 0.35)
  g.rectangle("fill", x - width / 2, y, width, height, 14)
  g.polygon("fill", x - 12, y + height - 1, x + 12, y + height - 1, x, y + height + 18)
  if is_chosen then
    g.setColor(0.98, 0.75, 0.35)
    g.setLineWidth(3)
    g.rectangle("line", x - width / 2, y, width, height, 14)
  end
  if not person.answer then return end
  write(last_lines(person.asked, "small", width - 32, 2), "small", x - width / 2 + 16, y + 12, width - 32, {0.55, 0.45, 0.45})
  write(last_lines(person.answer, "text", width - 32, 7), "text", x - width / 2 + 16, y + 48, width - 32, {0.15, 0.12, 0.18})
end

function scene.draw(game, time)
  local g = love.graphics
  g.origin()
  g.clear(0.11, 0.10, 0.13)
  g.setColor(1, 1, 1)
  g.draw(sky)
  for i, star in ipairs(stars) do
    g.setColor(1, 1, 0.9, 0.5 + 0.4 * math.sin(time + i))
    g.circle("fill", star[1], star[2], 1.2)
  end
  g.setColor(0.16, 0.20, 0.20)
  g.ellipse("fill", 260, GROUND + 40, 480, 90)
  g.ellipse("fill", 760, GROUND + 50, 460, 110)
  for i, person in ipairs(game.people) do
    local x = WIDTH * (2 * i - 1) / 6
    draw_person(person, looks[i], x, time)
    draw_bubble(person, x, i == game.chosen)
  end
  g.setColor(0.09, 0.09, 0.12)
  g.rectangle("fill", 0, GROUND + 24, WIDTH, HEIGHT - GROUND)
  for i, person in ipairs(game.people) do write(person.name, "name", WIDTH * (i - 1) / 3, GROUND, WIDTH / 3, {1, 1, 1}, "center") end
  write("to " .. game.people[game.chosen].name .. ": " .. last_lines(game.line, "text", WIDTH - 160, 1) .. (time % 1 < 0.5 and "|" or ""), "text", 24, GROUND + 36,
        WIDTH - 48, {0.98, 0.85, 0.6})
  write("type and press Enter; Tab or a click chooses who listens; Esc ends", "small", 24, GROUND + 70, WIDTH - 48, {0.6, 0.6, 0.65})
  write(game.status, "small", 24, 16, WIDTH - 48, {0.8, 0.8, 0.9}, "right")
  if not game.problem then return end
  g.setColor(0.45, 0.10, 0.12, 0.95)
  g.rectangle("fill", 60, 130, WIDTH - 120, 150, 10)
  write("This failed", "name", 84, 148, WIDTH - 168, {1, 1, 1})
  write(last_lines(game.problem, "text", WIDTH - 168, 4), "text", 84, 182, WIDTH - 168, {1, 0.9, 0.85})
end

return scene
