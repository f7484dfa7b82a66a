// Package run holds what a built engine is and executes it.
//
// A [Plan] is one network lowered for one target and one set of shapes: steps in order, each a layer with the tactic
// that computes it, and slots that give every tensor a place in the arena. An [Engine] is plans and the source network
// in a file. [Load] brings an engine to a backend: weights packed, kernels bound, shared and immutable; an
// [ExecutionContext] adds an arena and runs it, one user at a time.
package run
