// Package screen hunts with random keys, mouse events, resizes and signals: the workbench runs in a pseudo-terminal whose
// output a terminal emulator follows. It must not panic, must show that it took a key whatever came before, must write
// nothing outside of its size, must end when it is asked to, and must leave the terminal as it was. Some are at home on a disk that
// is full or cannot be written: what is not saved is said, and nothing is left half-written.
//
// terminal.go is the terminal, input.go what is typed, hunt.go one try, disks.go what nothing can be written to.
package screen
