package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/overview"
)

// maxViewed is how many files an engine of another program is described by.
const maxViewed = 3

// fileKind is what files are by how they begin.
type fileKind uint8

const (
	unknownFiles fileKind = iota // a model, an engine, or none of ours: what opens models says so
	recordedFile                 // one recording, or another database of SQLite
	viewedFiles                  // of JSON, which describe an engine of another program
)

// kindOf returns what files are.
func kindOf(paths []string) (fileKind, error) {
	viewed := 0
	for _, path := range paths {
		data, err := head(path, 64)
		switch {
		case err != nil:
			return unknownFiles, err
		case len(paths) == 1 && bytes.HasPrefix(data, []byte("SQLite format 3")):
			return recordedFile, nil
		case exchange.IsJSON(data):
			viewed++
		}
	}
	if viewed == 0 || viewed < len(paths) || viewed > maxViewed {
		return unknownFiles, nil
	}
	return viewedFiles, nil
}

// viewedTogether returns an error where several arguments are not files on one engine of another program.
func viewedTogether(paths []string) error {
	if len(paths) < 2 {
		return nil
	}
	kind, err := kindOf(paths)
	if err == nil && kind != viewedFiles {
		err = usageError{errors.New("only files of trtexec are given together")}
	}
	return err
}

// head returns the first n bytes of a file, or all where there are fewer; none of a file that cannot be opened.
func head(path string, n int) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	f, err := host.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	data := make([]byte, n)
	n, err = io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return data[:n], err
}

// openViewed reads the files on an engine of another program.
func openViewed(paths []string) (*report.Snapshot, error) {
	var files []exchange.File
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && info.Size() > exchange.Limit {
			err = fmt.Errorf("%s: more than %d MiB", path, exchange.Limit>>20)
		}
		if err != nil {
			return nil, err
		}
		data, err := host.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, exchange.File{Path: path, Data: data})
	}
	e, err := exchange.OpenEngine(files)
	if err != nil {
		return nil, err
	}
	return e.Snapshot(), nil
}

// view shows the files on an engine of another program.
func (f *workbenchFlags) view(cmd *cobra.Command, paths []string) error {
	snap, err := openViewed(paths)
	if err != nil {
		return err
	}
	look, noScreen := f.look.Detect(os.Getenv, term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()))
	if noScreen != nil {
		return writeViewed(cmd.OutOrStdout(), &f.output, snap)
	}
	ctx, stop := guardTerminal(cmd.Context())
	defer stop()
	return orSignalled(ctx, terminal{look: look, keys: f.keys, commands: f.commands(unflagged{}), recordings: f.recording, configs: saver(paths[0]), tourSeen: f.tour.seen(), compared: f.compared}.show(ctx, exchange.NewStill(snap), nil))
}

func inspectLayersCommand() *cobra.Command {
	o := &outputFlags{}
	c := &cobra.Command{
		Use:   "layers LAYERS.json [PROFILE.json] [TIMES.json]",
		Short: "Show an engine of TensorRT by the files that trtexec wrote of it, or a profile of ONNX Runtime",
		Long: `Show an engine of TensorRT by the files that trtexec wrote of it (--exportLayerInfo, --exportProfile, --exportTimes), in any
order, or a profile of ONNX Runtime. Layer information of TensorRT 8 to 11 is read. With detailed layers
(--profilingVerbosity=detailed) precisions and tactics are known, too.`,
		Example: examples("layers with their times", "trtui inspect layers layers.json profile.json times.json",
			"the same on a screen", "trtui layers.json profile.json times.json"),
		Args: cobra.RangeArgs(1, maxViewed),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			snap, err := openViewed(args)
			if err != nil {
				return err
			}
			return inspectLayers(c.OutOrStdout(), o, snap)
		},
	}
	o.define()
	o.addTo(c, takeFormat)
	return c
}

// writeViewed prints the overview of files on an engine.
func writeViewed(w io.Writer, o *outputFlags, snap *report.Snapshot) error {
	switch {
	case o.json():
		return writeReport(w, snap.Head(), engineDocument(snap))
	case snap.Timings == nil:
		return inspectLayers(w, o, snap)
	}
	return writeStyled(w, overview.Text(snap, terminalWidth(w)))
}

// viewedOutput is the JSON of trtui inspect layers.
type viewedOutput struct {
	Viewed          string
	Inputs, Outputs []report.Tensor
	Bindings        []string `json:",omitempty"` // inputs or outputs
	Timings         *report.Timings
	Layers          []report.Layer
	Notes           []string `json:",omitempty"` // what a person should know of the files
}

// inspectLayers prints the layers of an engine of another program, each with its time where that is known.
func inspectLayers(w io.Writer, o *outputFlags, snap *report.Snapshot) error {
	m := snap.Model
	if o.json() {
		return writeReport(w, snap.Head(), viewedOutput{m.Viewed, m.Inputs, m.Outputs, m.Bindings, snap.Timings, m.Layers, m.Notes})
	}
	fmt.Fprintf(w, "%s: %s, %s of %s\n", m.Name, m.Viewed, count(len(m.Layers), "layer"), count(len(snap.Passes.Source), "source layer"))
	for _, t := range m.Inputs {
		fmt.Fprintf(w, "input  %s %s%s\n", ui.VisibleName(t.Name), t.Type, t.Dims)
	}
	for _, t := range m.Outputs {
		fmt.Fprintf(w, "output %s %s%s\n", ui.VisibleName(t.Name), t.Type, t.Dims)
	}
	for _, name := range m.Bindings {
		fmt.Fprintf(w, "binding %s\n", ui.VisibleName(name))
	}
	fmt.Fprintln(w)
	times := map[string]report.LayerTiming{}
	top := 0.0
	if snap.Timings != nil {
		for _, l := range snap.Timings.Layers {
			times[l.Name] = l
			top = max(top, l.Share)
		}
	}
	var rows [][]string
	timed := func(t report.LayerTiming, op, precision string) []string {
		return []string{short(t.Name), us(t.Median), fmt.Sprintf("%.1f", 100*t.Share), bar(t.Share/max(top, 1e-9), 20), op, precision, t.Tactic}
	}
	for _, l := range m.Layers {
		row := []string{short(l.Name), "-", "", "", l.Op, l.Precision, ""}
		if t, ok := times[l.Name]; ok {
			row = timed(t, l.Op, l.Precision)
			delete(times, l.Name)
		}
		rows = append(rows, row)
	}
	if snap.Timings != nil {
		for _, t := range snap.Timings.Layers {
			if _, ok := times[t.Name]; ok { // of a layer that is not described
				rows = append(rows, timed(t, t.Op, t.Precision))
			}
		}
	}
	writeTable(w, []string{"@layer", ">median µs", ">%", "~", "type", "precision", "~tactic"}, rows)
	for _, note := range m.Notes {
		writeNote(w, "%s", note)
	}
	return nil
}
