module wrong

go 1.19
