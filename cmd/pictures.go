package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views"
	"github.com/trtui/trtui/views/pane"
)

// savePicture writes a picture to a new file in the folder in which the program was started.
func savePicture(extension string, data []byte) (string, error) {
	const most = 1000
	for n := 1; n <= most; n++ {
		path, err := filepath.Abs(fmt.Sprintf("trtui-screen-%d.%s", n, extension))
		if err != nil {
			return "", err
		}
		_, err = host.CreateFile(path, host.Bytes(data))
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("the folder has %d pictures already", most)
}

// pictureFlags are the flags of the subcommands of trtui export that draw a screen.
type pictureFlags struct {
	shareFlags
	form         ui.PictureForm
	screen, size string
	press        string
	look         screenFlags // the theme of it
}

// reportForm is the form of pictures in which there is a report of all, too: of a screen where one is named.
const reportForm = "html"

// pictureCommand draws a screen of the workbench without a terminal.
func pictureCommand(t tables, form ui.PictureForm) *cobra.Command {
	o := &pictureFlags{shareFlags: shareFlags{modelFlags: onBackends(t), format: formatOf(reportForm)}, form: form}
	reports := form.Name == reportForm
	c := &cobra.Command{
		Use:   form.Name + " [MODEL|ENGINE|RECORDING|LAYERS.json...] -o FILE",
		Short: "Draw a screen of the workbench as " + form.Doc,
		Long: "Draw a screen of the workbench as " + form.Doc + ".\n\nA model or an engine is measured first. Of a recording it is the last state, or that of --at. Two and more are compared, as\n" +
			"trtui diff takes them. --press goes on from the screen by keys, to what it shows at other times.",
		Example: examples("the memory of a model in INT8", "trtui export "+form.Name+" m.onnx --precision int8 --screen memory -o memory."+form.Name,
			"the roofline of a recording", "trtui export "+form.Name+" s.trtui --screen timings --press v,v -o roofline."+form.Name,
			"two recordings side by side", "trtui export "+form.Name+" monday.trtui tuesday.trtui -o compare."+form.Name),
		Args: cobra.MaximumNArgs(mostSides),
		RunE: func(c *cobra.Command, args []string) error {
			if o.output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			if !areCompared(args) {
				if err := viewedTogether(args); err != nil {
					return err
				}
			}
			o.look.look.ASCII = asked(c, "ascii")
			if drawn := o.screen != "" || o.press != "" || areCompared(args); reports && !drawn {
				if c.Flags().Changed("cells") || c.Flags().Changed("theme") {
					return usageError{errors.New("--cells and --theme are of a picture: name its --screen")}
				}
				return o.share(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args)
			}
			return o.draw(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args)
		},
	}
	if reports {
		c.Short = "Write " + o.format.Doc + "; with --screen, that screen of the workbench"
		c.Long = c.Short + ".\n" + strings.SplitN(c.Long, "\n", 2)[1]
		c.Example = examples("of a model in INT8", "trtui export html model.onnx --precision int8 -o m.html") + "\n" + c.Example
	}
	o.register(c, takeAll)
	o.usual, o.peaks = true, true // as the workbench shows it
	f := c.Flags()
	takesStandardOutput(c)
	f.StringVarP(&o.output, "output", "o", "", "the `FILE` to write; "+standardOutput+" for standard output")
	f.StringVar(&o.at, "at", "", "of a recording the `STATE` to draw: its number, from 1, a time after the start, as 00:14 or 14s, or a configuration, as int8/mse; also behind @")
	usual := "default: the overview, or of two compare, of more matrix"
	if reports {
		usual = "default: a report, or of two compare, of more matrix"
	}
	f.StringVar(&o.screen, "screen", "", "which `SCREEN`, by its digit or name: "+strings.Join(screenNames(), ", ")+" ("+usual+")")
	f.StringVar(&o.press, "press", "", "`KEYS` that are pressed then, as in v,v or tab,z, with commas between them")
	f.StringVar(&o.size, "cells", "120x40", "the `SIZE` of the terminal, as COLUMNSxLINES")
	f.StringVar(&o.look.look.Theme, "theme", "", "`THEME` dark, light, contrast, colour-blind, colour-blind-light or a JSON file of one's own; default: dark, and where NO_COLOR is set no colours")
	under(c, outputHeading, "output", "at")
	under(c, screenHeading, "screen", "press", "cells", "theme")
	return c
}

// formatOf returns the form of an export with a name.
func formatOf(name string) exchange.Format {
	list := exchange.Formats()
	return list[slices.IndexFunc(list, func(f exchange.Format) bool { return f.Name == name })]
}

// screenNames are the names of the workbench's screens.
var screenNames = sync.OnceValue(func() []string { return views.ScreenNames(exchange.NewStill(&report.Snapshot{})) })

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

// screenName is the name of a screen that is given by it or by its digit.
func (o *pictureFlags) screenName(screen string) string {
	if digit, err := strconv.Atoi(screen); err == nil {
		return screenNames()[(digit+9)%10]
	}
	return screen
}

// shot reads what is to be drawn; usual is the screen where none is named.
func (o *pictureFlags) shot(usual string) (s views.Shot, err error) {
	s.Screen = strings.ToLower(o.screen)
	if s.Screen == "" {
		s.Screen = usual
	}
	digit := len(s.Screen) == 1 && s.Screen[0] >= '0' && s.Screen[0] <= '9'
	names := screenNames()
	if usual == "matrix" {
		names = append(slices.Clip(names), usual)
	}
	if !digit && !slices.Contains(names, s.Screen) {
		return s, usageError{fmt.Errorf("--screen %q: want its digit, or %s", o.screen, orList(names))}
	}
	if o.press != "" {
		s.Keys = strings.Split(o.press, ",")
	}
	for _, key := range s.Keys {
		if !ui.IsKeyName(key) {
			return s, usageError{fmt.Errorf("--press %q: no key is called %q; one is x, X, ctrl+x, f5, tab, enter, space", o.press, key)}
		}
	}
	s.Cells, s.Lines, err = o.cells()
	return s, err
}

func (o *pictureFlags) draw(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	several, usual := areCompared(args), "overview"
	switch {
	case several && len(args) > 2:
		usual = "matrix"
	case several:
		usual = "compare"
	}
	shot, err := o.shot(usual)
	if err != nil {
		return err
	}
	if err := o.look.checkTheme(); err != nil {
		return err
	}
	o.look.look.NoColor = o.look.look.Theme == "" && os.Getenv("NO_COLOR") != ""
	if o.screenName(shot.Screen) == "runtime" {
		o.format.Parts |= report.PartRuntime
	}
	options := views.Options{Look: ui.NewLook(o.look.look), Read: readState, Recordings: recording.Folder(".")}
	var snap *report.Snapshot
	if several {
		snap, options.Compared, err = o.compared(ctx, stderr, parseOperands(args))
	} else {
		snap, err = o.snapshot(ctx, stderr, args)
	}
	if err != nil {
		return err
	}
	settled := *snap
	settled.Seq = max(1, snap.Seq)
	if snap.Replay != "" { // what else was recorded is on its screens, too
		r, err := recording.Open(snap.Replay)
		if err != nil {
			return err
		}
		defer r.Close()
		if snap.At != nil {
			r.Seek(snap.At.State - 1)
		}
		options.Timeline, options.Recordings = r, recording.Folder(filepath.Dir(r.Path()))
	}
	picture, err := views.Picture(exchange.NewStill(&settled), options, shot)
	if err != nil {
		return err
	}
	data, err := o.form.Draw(picture)
	if err != nil {
		return err
	}
	o.format.Text = false // what would act on a terminal is on no screen
	return o.write(stdout, snap, []exchange.Output{{Data: data}})
}

// compared returns the last of several, in front of which all are compared.
func (o *pictureFlags) compared(ctx context.Context, stderr io.Writer, operands []operand) (*report.Snapshot, []pane.Mark, error) {
	if o.at != "" {
		return nil, nil, usageError{errors.New("--at chooses a state of one recording; of several, name it behind @")}
	}
	d := diffFlags{modelFlags: o.modelFlags, duration: diffDuration}
	sides, err := d.sides(ctx, stderr, operands)
	if err != nil {
		return nil, nil, err
	}
	return sides[len(sides)-1].Snapshot, marksOf(sides), nil
}
