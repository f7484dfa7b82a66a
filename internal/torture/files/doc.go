// Package files hunts with deformed files: models, engines, timing caches, configurations, recordings, data of every form and
// what other programs and people write for this one are changed in their bytes and in their meaning and given to the program,
// which is to end in time, in little memory, with one of its exit codes, and to say in a line or two what is wrong with which
// file. Language models write texts with deformed tokenizers, from any prompt, of lengths at edges. Sound files are given, too, of
// which reads fail, end early or give few bytes.
//
// Start with kinds and writtenKinds, the tables of what is deformed and which commands read it; sound.go makes what is sound,
// deform.go changes bytes, models.go the meaning of models, modules.go plugins; reads.go is the reads that fail.
package files
