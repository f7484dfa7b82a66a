//go:build !amd64 || noasm

package asm

func peakLoops(Features) []PeakLoop { return nil }

func readLoop(Features) func(p *byte, part int) { return nil }
