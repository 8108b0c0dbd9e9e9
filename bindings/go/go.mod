module inlay.dev/inlay

go 1.19
