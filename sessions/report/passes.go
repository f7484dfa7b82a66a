package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Passes is the way from the source network to the engine's (trtui inspect passes).
type Passes struct {
	// Precision is the one that Engine was lowered to; older recordings do not say.
	Precision config.Precision `json:",omitempty"`

	// Dropped is what took back the quantisation that the model brought, before Source and Steps: the ledger knows nothing of what
	// went there. Nil where it brought none, or it was left.
	Dropped *PassStep `json:",omitempty"`

	Steps  []PassStep
	Ledger []LedgerEntry // of every source layer, in order
	Source []Layer
	Engine []Layer // the lowered network
	// Kept, Fused, Folded and Eliminated count source layers; they sum to len(Ledger).
	Kept, Fused, Folded, Eliminated int
	KernelsSaved                    int   `output:"layers_saved"` // len(Source) - len(Engine)
	BytesSaved                      int64 `output:"saved_bytes"`
	Rules                           []Rule
	Disabled                        []string // rules and sites that are switched off, as Config has them
	// Unlowered has the layers that were left in another precision than the configuration's, and Unchanged says why that is so
	// of all, where the precision changes no layer.
	Unlowered []UnloweredLayer `json:",omitempty"`
	Unchanged string           `json:",omitempty"`
	// Unmet are the layer precisions that were set and that the layers do not have.
	Unmet []UnmetPrecision `json:",omitempty"`
}

// UnmetPrecision is a layer whose precision was set but is another one.
type UnmetPrecision struct {
	Layer     string // of the engine
	Rule      string // as Config has it
	Precision string // that it has
	Reason    string
}

func (u UnmetPrecision) String() string {
	return fmt.Sprintf("layer %s: precision %s is not met, it runs in %s: %s", u.Layer, u.Rule, u.Precision, u.Reason)
}

// UnloweredLayer is a layer that was left in another precision than the one asked for.
type UnloweredLayer struct {
	Layer     string
	From      []string // source layers
	Precision string
	Reason    string
	Formless  bool `json:",omitempty"` // its op has no form in the precision, whatever is asked
}

// Rule is a pass that can be switched off.
type Rule struct {
	Name string
	Doc  string
}

// PassStep is one pass over the network.
type PassStep struct {
	Pass    string
	Fired   []FiredSite
	Missed  []MissedSite
	Layers  int // after it
	Elapsed time.Duration
	After   []Layer // the network after it; empty where it changed nothing
	Text    string  // its text form after it; empty where it changed nothing
}

// FiredSite is one rewrite.
type FiredSite struct {
	Rule         string
	Site         string // identifies it in Config.Disable
	Layers       []string
	Into         string // the layer that came of it; empty if they were removed
	KernelsSaved int    `output:"layers_saved"` // layers that were not needed any more, less those that took their place
	BytesSaved   int64  `output:"saved_bytes"`
	Note         string `json:",omitempty"` // what changed, where layers and bytes do not tell
}

// MissedSite is a rewrite that was looked at and not done.
type MissedSite struct {
	Rule   string
	Site   string
	Layers []string
	Reason string // "second consumer", "dtype", "disabled", ...
	Detail string `json:",omitempty"`
	Cause  string `json:",omitempty"` // Detail without names, where it has any
}

// LedgerEntry tells what became of one source layer.
type LedgerEntry struct {
	Layer string
	Op    string
	Fate  string // "kept", "fused", "folded", "eliminated"
	Into  string // the engine layer that computes it, if any
	Pass  string // that decided it
}

// passesTables are what queries find of the report beside its JSON.
const passesTables = `
CREATE TABLE passes (            -- the passes over the graph, in order
  config     INTEGER NOT NULL REFERENCES configs(id),
  step       INTEGER NOT NULL,     -- from 1
  pass       TEXT NOT NULL,
  layers     INTEGER NOT NULL,     -- after it
  elapsed_ns INTEGER NOT NULL,
  PRIMARY KEY (config, step)
) WITHOUT ROWID;

CREATE TABLE sites (             -- what a pass rewrote, and what it looked at and left
  config        INTEGER NOT NULL REFERENCES configs(id),
  step          INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  site          TEXT NOT NULL,     -- rule(layer,layer...), as --disable takes it
  fired         INTEGER NOT NULL,  -- 1: rewritten, 0: missed
  into_layer    TEXT,              -- the layer that came of it
  kernels_saved INTEGER,
  bytes_saved   INTEGER,
  reason        TEXT,              -- why it was missed
  detail        TEXT
);

CREATE TABLE ledger (            -- what became of every source layer
  config     INTEGER NOT NULL REFERENCES configs(id),
  layer      TEXT NOT NULL,
  op         TEXT NOT NULL,
  fate       TEXT NOT NULL,        -- kept, fused, folded, eliminated
  into_layer TEXT,                 -- the engine layer that computes it
  pass       TEXT,
  PRIMARY KEY (config, layer)
) WITHOUT ROWID;
`

// rows are what queries find.
func (p *Passes) rows(add AddRow) error {
	steps, first := p.Steps, 1
	if p.Dropped != nil {
		steps, first = slices.Insert(slices.Clone(steps), 0, *p.Dropped), 0
	}
	for i, st := range steps {
		i += first
		if err := add("passes", i, st.Pass, st.Layers, int64(st.Elapsed)); err != nil {
			return err
		}
		for _, f := range st.Fired {
			if err := add("sites", i, f.Rule, f.Site, 1, OrNull(f.Into), f.KernelsSaved, f.BytesSaved, nil, OrNull(f.Note)); err != nil {
				return err
			}
		}
		for _, m := range st.Missed {
			if err := add("sites", i, m.Rule, m.Site, 0, nil, nil, nil, m.Reason, OrNull(m.Detail)); err != nil {
				return err
			}
		}
	}
	for _, e := range p.Ledger {
		if err := add("ledger", e.Layer, e.Op, e.Fate, OrNull(e.Into), OrNull(e.Pass)); err != nil {
			return err
		}
	}
	return nil
}

// Short leaves out the graph after every pass, for recordings in which all of them would be too much.
func (p *Passes) Short() any {
	short := *p
	short.Steps = slices.Clone(p.Steps)
	for i := range short.Steps {
		short.Steps[i].After, short.Steps[i].Text = nil, ""
	}
	return &short
}
