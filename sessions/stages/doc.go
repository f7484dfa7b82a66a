// Package stages makes, from a model and a configuration, what a report is about: the rewritten network, ranges, the lowered
// one, tactics and memory, an engine, its times and its accuracy. [Stages] has the parts that do it: each sees its part of the
// configuration (orders.go), remembers what it made, and has the parts that it goes on from. Start with stages.go, which connects
// them.
package stages
