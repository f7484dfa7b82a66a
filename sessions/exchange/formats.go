package exchange

import (
	"bytes"
	"encoding/json"

	"github.com/trtui/trtui/sessions/report"
)

// Format is a form in which others take what a snapshot says.
type Format struct {
	Name, Doc string
	Extension string       // of a file of it, "" where it is a folder of several
	Parts     report.Parts // reports that it is made of, as far as there are any
	Text      bool         // people read its files as they are; JSON spells out what acts on a terminal by itself
	Tables    bool         // every table is in it, also of what the device reaches at most
	Make      func(*report.Snapshot) ([]Output, error)
}

// Output is a file of a format.
type Output struct {
	Name string // in the folder; "" where there is one file
	Data []byte
}

// all are the reports that tables and pages are made of.
const all = report.PartPasses | report.PartOverview | report.PartTimings | report.PartMemory | report.PartTactics | report.PartAccuracy

// Formats are all there are.
func Formats() []Format {
	return []Format{
		{"trace", "steps on a time line and memory beside them, for Perfetto and Chrome", ".json", report.PartTimings | report.PartPasses | report.PartMemory, false, false, single(Trace)},
		{"netron", "time, precision and fate of every node, to be dropped onto the ONNX model in Netron", ".netron.json", report.PartTimings | report.PartPasses, false, false, single(Netron)},
		{"trex", "layers, profile and metadata as TensorRT's, for TREx", "", report.PartTimings | report.PartPasses, false, false, TREx},
		{"csv", "every table", "", all, true, true, CSV},
		{"md", "every table in Markdown", ".md", all, true, true, single(Markdown)},
		{"html", "a report with pictures, in one file", ".html", all, true, true, single(HTML)},
	}
}

// single makes a format of one file.
func single(write func(*report.Snapshot) ([]byte, error)) func(*report.Snapshot) ([]Output, error) {
	return func(s *report.Snapshot) ([]Output, error) {
		data, err := write(s)
		return []Output{{Data: data}}, err
	}
}

// object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal writes JSON for people: indented, "<" as it is.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}
