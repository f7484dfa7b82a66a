// Package soak hunts for what is lost little by little: engines are built, run and freed by the hundred, the workbench is
// toggled for a time, and eight contexts run at once under the race detector. Memory stays flat; the figures are told.
package soak
