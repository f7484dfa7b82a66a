// Package runtime holds the screen of what the engine does over the shapes that it serves and with several contexts.
package runtime
