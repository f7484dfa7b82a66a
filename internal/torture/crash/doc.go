// Package crash hunts with what happens to programs: they are killed at random moments, disks are full, homes are missing or
// cannot be written, several processes use one cache or one recording, memory is limited, engines are of processors with other
// instructions, modules of plugins change. What was in a file before is there afterwards, or what was to be written is, whole; the
// program says what happened and ends with one of its exit codes.
//
// Start with trials, the table of what is tried.
package crash
