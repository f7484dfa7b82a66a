// Package torture looks for defects until its time is up: hunts, each a package below this one, try one thing after the
// other, seeded and numbered, so that every try can be repeated. A hunt runs in processes of its own (worker.go), since what
// it tries may hang, take all memory or end the process; the supervisor tells them what to try, watches them, keeps what
// they find, and remembers how far it is (state.go). What is only late is tried again with nothing beside it before it counts.
//
// scripts/torture is the command.
package torture
