// Package suite has the layers on which every tactic of a backend is checked, and the check. [Layers] is the table;
// [Check] compares one tactic on one layer with the layer's own Eval; a [Sweep] does that for all of them, as trtui gpu
// selftest shows. Tests use internal/runtest, which gives every check a name of its own.
package suite
