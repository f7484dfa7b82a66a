package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views"
)

// savePicture writes an SVG to a new file in the folder in which the program was started.
func savePicture(svg string) (string, error) {
	const most = 1000
	for n := 1; n <= most; n++ {
		path, err := filepath.Abs(fmt.Sprintf("trtui-screen-%d.svg", n))
		if err != nil {
			return "", err
		}
		_, err = host.CreateFile(path, host.Bytes([]byte(svg)))
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("the folder has %d pictures already", most)
}

// pictureFlags are the flags of trtui export svg.
type pictureFlags struct {
	shareFlags
	screen, size string
	look         screenFlags // the theme of it
}

// pictureCommand draws a screen of the workbench without a terminal.
func pictureCommand(t tables) *cobra.Command {
	o := &pictureFlags{shareFlags: shareFlags{modelFlags: onBackends(t)}}
	for _, f := range exchange.Formats() { // all that a page is made of is on some screen
		if f.Name == "html" {
			o.format = f
		}
	}
	c := &cobra.Command{
		Use:   "svg [MODEL|ENGINE|RECORDING|LAYERS.json...] -o FILE",
		Short: "Draw a screen of the workbench as a picture",
		Example: examples("the memory of a model in INT8", "trtui export svg model.onnx --precision int8 --screen 4 -o memory.svg",
			"of a recording", "trtui export svg session.trtui --screen 3 --cells 160x50 -o timings.svg"),
		Args: cobra.MaximumNArgs(maxViewed),
		RunE: func(c *cobra.Command, args []string) error {
			if o.output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			if err := viewedTogether(args); err != nil {
				return err
			}
			o.look.look.ASCII = asked(c, "ascii")
			return o.draw(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args)
		},
	}
	o.register(c, takeAll)
	o.usual = true // as the workbench shows it
	f := c.Flags()
	takesStandardOutput(c)
	f.StringVarP(&o.output, "output", "o", "", "the `FILE` to write; "+standardOutput+" for standard output")
	f.StringVar(&o.at, "at", "", "of a recording the `STATE` to draw: its number, from 1, or a time after the start, as 00:14 or 14s")
	f.StringVar(&o.screen, "screen", "1", "which screen, by its digit")
	f.StringVar(&o.size, "cells", "120x40", "the `SIZE` of the terminal, as COLUMNSxLINES")
	f.StringVar(&o.look.look.Theme, "theme", "dark", "`THEME` dark, light, contrast, colour-blind, colour-blind-light or a JSON file of one's own")
	under(c, outputHeading, "output", "at")
	under(c, screenHeading, "screen", "cells", "theme")
	return c
}

// cells reads the size of a terminal.
func (o *pictureFlags) cells() (w, h int, err error) {
	columns, lines, ok := strings.Cut(o.size, "x")
	w, errW := strconv.Atoi(columns)
	h, errH := strconv.Atoi(lines)
	if !ok || errW != nil || errH != nil || w < ui.MinWidth || h < ui.MinHeight || w > 500 || h > 200 {
		return 0, 0, usageError{fmt.Errorf("--cells %q: want COLUMNSxLINES, from %dx%d to 500x200", o.size, ui.MinWidth, ui.MinHeight)}
	}
	return w, h, nil
}

func (o *pictureFlags) draw(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	w, h, err := o.cells()
	switch {
	case err != nil:
		return err
	case len(o.screen) != 1 || o.screen[0] < '0' || o.screen[0] > '9':
		return usageError{fmt.Errorf("--screen %q: want the digit of a screen", o.screen)}
	}
	if err := o.look.checkTheme(); err != nil {
		return err
	}
	snap, err := o.snapshot(ctx, stderr, args)
	if err != nil {
		return err
	}
	settled, options := *snap, views.Options{Look: ui.NewLook(o.look.look)}
	settled.Seq = max(1, snap.Seq)
	if snap.Replay != "" { // what else was recorded is on its screens, too
		r, err := recording.Open(snap.Replay)
		if err != nil {
			return err
		}
		defer r.Close()
		state, err := stateAt(r, o.at)
		if err != nil {
			return err
		}
		r.Seek(state)
		options.Timeline = r
	}
	svg, err := views.Picture(exchange.NewStill(&settled), options, o.screen, w, h)
	if err != nil {
		return err
	}
	return o.write(stdout, snap, []exchange.Output{{Data: []byte(svg)}})
}
