package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

func inspectRecordingCommand() *cobra.Command {
	o := &outputFlags{}
	c := &cobra.Command{
		Use:   "recording FILE|FOLDER",
		Short: "Show what a recording holds: model, data, device and the results of every configuration; of a folder, its recordings",
		Example: examples("one recording", "trtui inspect recording session.trtui",
			"those of a folder", "trtui inspect recording recordings/"),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return inspectRecording(c.OutOrStdout(), o, args[0])
		},
	}
	o.define()
	o.addTo(c, takeFormat|takeQuiet)
	return c
}

// inspectRecording prints a recording's summary, or those of a folder's recordings.
func inspectRecording(w io.Writer, o *outputFlags, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return listRecordings(w, o, path)
	}
	x := parseOperand(path)
	r, err := recording.Open(x.path)
	if err != nil {
		return err
	}
	if x.which != "" {
		return errors.Join(usageError{fmt.Errorf("inspect recording sums up all of %s; trtui replay %s --format text shows one state", x.path, path)}, r.Close())
	}
	defer r.Close()
	rep, err := r.Report()
	if err != nil {
		return err
	}
	if o.json() {
		return writeReport(w, rep.Head(), rep)
	}
	writeRecording(w, rep)
	return nil
}

func writeRecording(w io.Writer, r *report.Recording) {
	fmt.Fprintf(w, "%s: %s (%s, sha256 %.12s), on %s\n", r.Path, r.Model, r.ModelPath, r.ModelSHA256, r.Device.Device)
	end := "cut short"
	switch {
	case r.Writing:
		end = "being written"
	case r.Complete:
		end = endText(r) + ", " + r.Ended.Sub(r.Started).Round(time.Second).String()
	}
	fmt.Fprintf(w, "recorded %s, %s; %s, %s\n", r.Started.Format("2006-01-02 15:04:05"), end, count(r.States, "state"), bytesText(int(r.Bytes)))
	fmt.Fprintf(w, "data: %s, %s to evaluate, %d to calibrate\n", r.Data, count(r.Items, "item"), r.CalItems)
	if r.Random {
		fmt.Fprintln(w, "random input: accuracy is not meaningful, only agreement is")
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, c := range r.Configs {
		remark := c.Err
		if remark == "" && !c.Settled {
			remark = "not finished"
		}
		if c.Aside {
			remark = "measured beside others"
		}
		rows = append(rows, []string{
			c.Name, known(c.Median, ms), known(c.P99, ms), fmt.Sprint(c.Runs), known(c.Top1, percent), known(c.Agreement, percent),
			known(c.SQNR, decibels), known(c.ArenaBytes, bytesText), known(c.Weights, bytesText), remark,
		})
	}
	median, p99 := ">median ms", ">p99 ms"
	if r.Device.Estimated {
		median, p99 = ">estimated ms", ">estimated p99"
	}
	writeTable(w, []string{"configuration", median, p99, "~>runs", ">top-1 %", ">agree %", ">SQNR dB", "~>arena", "~>weights", ""}, rows)
}

// endText is how a recording ended that was closed.
func endText(r *report.Recording) string {
	if r.Stopped {
		return "stopped"
	}
	return "complete"
}

// known prints a number that may be missing.
func known[T any](v *T, print func(T) string) string {
	if v == nil {
		return "-"
	}
	return print(*v)
}

// recordingDocument is a recording among others in the JSON.
type recordingDocument struct {
	report.Head
	report.Recording
}

// listRecordings prints a line for each recording in a folder.
func listRecordings(w io.Writer, o *outputFlags, dir string) error {
	list, err := recording.List(dir)
	if err != nil {
		return err
	}
	if o.json() {
		var out struct{ Recordings []recordingDocument }
		for _, r := range list {
			out.Recordings = append(out.Recordings, recordingDocument{r.Head(), *r})
		}
		return writeReport(w, report.Head{}, out)
	}
	if len(list) == 0 {
		return errors.New("no recordings (*" + recording.Extension + ") in " + dir)
	}
	var rows [][]string
	for _, r := range list {
		state := "cut short"
		switch {
		case r.Writing:
			state = "being written"
		case r.Err != "":
			state = r.Reason()
		case r.Complete:
			state = endText(r)
		}
		rows = append(rows, []string{filepath.Base(r.Path), r.Model, r.Started.Format("2006-01-02 15:04:05"), fmt.Sprint(len(r.Configs)), bytesText(int(r.Bytes)), state})
	}
	writeTable(w, []string{"recording", "model", "started", ">configurations", ">size", ""}, rows)
	return nil
}
