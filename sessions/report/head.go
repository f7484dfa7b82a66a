package report

import "github.com/trtui/trtui/sessions/config"

// Head is what every document of the commands begins with: what made it, of which model, on what, and how. What a command
// does not have, or has several of, is nil; then the document's own rows tell.
type Head struct {
	Commit string `json:",omitempty"` // that the program was built from
	Model  *ModelHead
	Device *Device
	Config *config.Config
	Data   *DataHead
}

// ModelHead says which model a document is about.
type ModelHead struct {
	Name   string // of its file
	Graph  string // that the exporter gave
	Path   string // "embedded" for the model in the program
	Kind   string // "onnx", "engine"
	Bytes  int64
	SHA256 string
}

// DataHead says on what data a model was run.
type DataHead struct {
	Name     string
	Random   bool // made up: accuracy is agreement only
	Items    int  // to evaluate on
	CalItems int  `output:"calibration_items"`
	Shared   int  `json:",omitempty" output:"calibration_items_evaluated"`
	Labelled bool
	Images   string `json:",omitempty"` // to which size image files are brought, and how
}

// Head returns the head of documents on the snapshot.
func (s *Snapshot) Head() Head {
	h := Head{Device: &s.Device, Config: &s.Config}
	if m := s.Model; m != nil {
		h.Model = &ModelHead{Name: m.Name, Graph: m.Graph, Path: m.Path, Kind: m.Kind, Bytes: m.Bytes, SHA256: m.SHA256}
		h.Data = &DataHead{Name: m.Data, Random: m.Random, Items: m.Items, CalItems: m.CalItems, Shared: m.Shared, Labelled: m.Labelled, Images: m.Images}
	}
	return h
}

// Head returns the head of documents on the recording.
func (r *Recording) Head() Head {
	return Head{
		Model:  &ModelHead{Name: r.Model, Path: r.ModelPath, Kind: r.ModelKind, Bytes: r.ModelBytes, SHA256: r.ModelSHA256},
		Device: &r.Device,
		Data:   &DataHead{Name: r.Data, Random: r.Random, Items: r.Items, CalItems: r.CalItems, Labelled: r.Labelled},
	}
}
