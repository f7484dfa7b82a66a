//go:build amd64 && !noasm

package cpu

const noasm = false
