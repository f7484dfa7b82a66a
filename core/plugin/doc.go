// Package plugin loads ops from WebAssembly modules: a module tells by a manifest which operators it has, infers their shapes and
// computes them, and does nothing else. It runs in wazero, without files, network, clock or environment, within a bound on memory and
// on the time of each call; whatever it answers is checked. docs/plugins.md is its interface.
//
// Start with [Open] (module.go). call.go writes requests into a module's memory and reads answers, manifest.go is what a module
// says of itself, binary.go bounds what wazero leaves unbounded, and op.go makes ops of it.
package plugin
