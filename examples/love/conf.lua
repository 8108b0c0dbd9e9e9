function love.conf(t)
  t.identity = "inlay-love"
  t.window.title = "Three characters"
  t.window.width, t.window.height = 960, 540
  t.window.vsync = 0  -- main.lua keeps 60 frames a second itself
  t.modules.audio, t.modules.sound, t.modules.video, t.modules.physics, t.modules.joystick = false, false, false, false, false
end
