module github.com/trtui/trtui

go 1.26.0

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/charmbracelet/x/exp/golden v0.1.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
