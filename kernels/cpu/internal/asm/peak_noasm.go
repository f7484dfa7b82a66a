//go:build !amd64 || noasm

package asm

func fmaLoop() (run func(n int), flops int) { return nil, 0 }

func readLoop() func(p *byte, quarter int) { return nil }
