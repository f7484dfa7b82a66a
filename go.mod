module github.com/trtui/trtui

go 1.26
