// Package log holds the screen of findings and of the messages of builds and runs.
package log
