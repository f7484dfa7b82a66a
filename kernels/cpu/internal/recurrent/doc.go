// Package recurrent has LSTM, GRU and RNN on the CPU. What depends on the input alone is one product for all steps; a step is the
// product of the state with weights that are packed once, and the gates as functions on vectors (gates.go). A worker goes through
// whole sequences of some items and one direction, or, where the weights are large, all workers through the steps together, some
// units of the state each (recurrent.go).
package recurrent
