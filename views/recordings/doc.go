// Package recordings holds the screen of recordings, and of the states of the one that is shown.
package recordings
