package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/generate"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/sessions/tokenizer"
	"github.com/trtui/trtui/ui"
)

// generateFlags are the flags of trtui generate.
type generateFlags struct {
	modelFlags
	prompt         string
	ids            []int
	tokens, length int
	sampling       generate.Sampling
	ignoreEnd      bool
	perLayer       bool
}

// errNoRanges is why a language model in floats is not asked for texts in int8 while a session shows it.
var errNoRanges = errors.New("a language model gets no ranges here: trtui generate --precision int8 takes them, by --calib-data or --ranges; or use fp32 or fp16")

// maxPrompt bounds a prompt from standard input.
const maxPrompt = 16 << 20

func generateCommand(t tables) *cobra.Command {
	o := &generateFlags{modelFlags: *onBackends(t)}
	c := &cobra.Command{
		Use:        "generate MODEL",
		SuggestFor: []string{"text", "llm", "tokens", "chat"},
		Short:      "Continue a text with a language model, and measure it token by token",
		Long: "Continue a text with a language model, and measure it token by token.\n\n" +
			"A model that takes past keys and values, as exports for decoding do, computes new tokens alone and keeps the state of\n" +
			"earlier ones in place; it needs an attention mask and positions as inputs. Another one computes the whole text again\n" +
			"for each token. The tokenizer is tokenizer.json beside the model, or that of --tokenizer.\n\n" +
			"The time to the first token is that of the whole prompt; the time per token is that of the tokens behind the first.\n" +
			"What it takes to build engines is in neither.\n\n" +
			"Weights of few bits (--weights) are rounded by what they are multiplied by on a text, if --calib-data names one, in pieces of 128\n" +
			"tokens. In int8, a model that brings no quantisation is calibrated on such a text, or has the ranges of a file of trtui calibrate\n" +
			"(--ranges): its weights are the nearest integers, its channels as they are, and biases are corrected by means.",
		Example: examples("the best continuation", "trtui generate model.onnx --prompt 'Once upon a time'",
			"a text that is drawn, another with each seed", "trtui generate model.onnx --prompt 'The dog' --temperature 0.8 --seed 7",
			"figures alone, for a script", "trtui generate model.onnx --ids 1,403,407 --format json",
			"the layers' times for prompts and for single tokens", "trtui generate model.onnx --ids 1,403,407 --per-layer",
			"in int8, with ranges that a text tells", "trtui generate model.onnx --ids 1 --precision int8 --calib-data text.txt",
			"weights of 4 bits, rounded by a text", "trtui generate model.onnx --ids 1,403 --weights int4 --calib-data text.txt"),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), args[0])
		},
	}
	o.register(c, takeCalibrated|takePrecision|takeInt8|takePasses|takeTactics|takeBackend|takeThreads|takeTimings|takeCode|takeOutput)
	f := c.Flags()
	f.StringVar(&o.data.tokenizer, "tokenizer", "", "tokenizer.json, its `FOLDER`, or a tokenizer of llama2.c; default: tokenizer.json beside the model")
	f.StringVar(&o.data.logits, "logits", "", "the `OUTPUT` that scores the next token; default: one as wide as the vocabulary, called logits, or the first")
	f.Var((*textValue)(&o.prompt), "prompt", "the `TEXT` to continue; - reads it from standard input")
	f.IntSliceVar(&o.ids, "ids", nil, "the `TOKENS` to continue, in place of a text; no tokenizer is needed then")
	f.IntVar(&o.tokens, "tokens", 128, "how many new tokens at most")
	f.IntVar(&o.length, "length", 0, "room for so many tokens, of prompt and text; default: what both need")
	f.BoolVar(&o.ignoreEnd, "ignore-end", false, "go on behind a token that ends the text")
	o.data.lookup("calib-data").Usage = "a text (.txt) at `PATH` by which --weights are rounded, trials or --rounding choosing how, and on which int8 is calibrated"
	under(c, "Text", "tokenizer", "logits", "prompt", "ids", "tokens", "length", "ignore-end")
	f.BoolVar(&o.perLayer, "per-layer", false, "measure every layer when the text is there, for prompts and for single tokens side by side")
	under(c, "Measurement", "per-layer")
	f.Float64Var(&o.sampling.Temperature, "temperature", 0, "how freely tokens are drawn: 1 by the model's probabilities, 0 takes the best")
	f.IntVar(&o.sampling.TopK, "top-k", 0, "draw of so many of the best tokens alone; 0: of all")
	f.Float64Var(&o.sampling.TopP, "top-p", 0, "draw of the best tokens that have this probability together; 0: of all")
	f.Uint64Var(&o.sampling.Seed, "seed", 1, "the same seed draws the same text")
	under(c, "Sampling", "temperature", "top-k", "top-p", "seed")
	return c
}

func (o *generateFlags) check() error {
	if err := o.modelFlags.check(); err != nil {
		return err
	}
	switch by := o.config.quantization.Rounder(); {
	case len(o.ids) > 0 && (o.prompt != "" || o.data.tokenizer != "" && o.data.calData == ""):
		return usageError{errors.New("--ids takes the place of --prompt and --tokenizer; give one or the other")}
	case o.data.calData != "" && o.config.weights == "" && o.config.precision != string(config.INT8):
		return usageError{errors.New("--calib-data says how weights are rounded and int8 is calibrated: name by --weights what to, or --precision int8")}
	case o.config.weights == "" && by.NeedsMoments() && !by.IsAuto():
		return usageError{fmt.Errorf("--rounding %s is for --weights here: in int8 weights are the nearest integers", by)}
	case o.data.calData == "" && by.NeedsMoments() && !by.IsAuto():
		return usageError{fmt.Errorf("--rounding %s looks at what weights are multiplied by: name a text by --calib-data", by)}
	case o.tokens < 1 || o.tokens > generate.MaxLength:
		return usageError{fmt.Errorf("--tokens %d: want 1 to %d", o.tokens, generate.MaxLength)}
	case o.length < 0 || o.length > generate.MaxLength:
		return usageError{fmt.Errorf("--length %d: want 0 to %d", o.length, generate.MaxLength)}
	case !(o.sampling.Temperature >= 0) || o.sampling.TopK < 0 || !(o.sampling.TopP >= 0 && o.sampling.TopP <= 1):
		return usageError{errors.New("--temperature and --top-k are 0 or more, --top-p is 0 to 1")}
	}
	return nil
}

// encoded returns the prompt's text and tokens, and the tokenizer, nil where tokens were given.
func (o *generateFlags) encoded(stdin io.Reader, model string) (text string, ids []int, tok *tokenizer.Tokenizer, err error) {
	if len(o.ids) > 0 {
		return "", o.ids, nil, nil
	}
	if text = o.prompt; text == "-" {
		data, err := io.ReadAll(io.LimitReader(stdin, maxPrompt))
		if err != nil {
			return "", nil, nil, err
		}
		text = strings.TrimSuffix(string(data), "\n")
	}
	if tok, err = openTokenizer(o.data.tokenizer, model); err != nil {
		return "", nil, nil, err
	}
	if ids, err = tok.Encode(text); err != nil {
		err = fmt.Errorf("prompt: %w", err)
	}
	return text, ids, tok, err
}

func (o *generateFlags) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	text, ids, tok, err := o.encoded(stdin, path)
	if err != nil {
		return err
	}
	m, err := o.openModel(path)
	if err != nil {
		return err
	}
	if m.Engine != nil {
		return fmt.Errorf("%s is an engine, which is for one length of text; give the ONNX model that it was built of", path)
	}
	p, err := o.workshop(m)
	if err != nil {
		return err
	}
	defer p.close()
	p.warn(stderr)
	if o.output.verbose {
		p.work.Log = func(l report.LogLine) { fmt.Fprintln(stderr, l) }
	}
	cfg, err := o.config.forModel(m, nil)
	if err != nil {
		return err
	}
	show, stop := o.output.reporter(stderr)
	stop = sync.OnceFunc(stop)
	defer stop()
	begun := false // progress is shown until the text is
	tell := func(now report.Progress) {
		if show != nil && !begun {
			show(now)
		}
	}
	known, err := o.calibrated(ctx, p, cfg, tell)
	if err != nil {
		return err
	}
	language, err := generate.New(m.Network, o.data.logits, len(ids), max(o.length, len(ids)+o.tokens), p.work.Backend, languageBuilder(p, cfg, known, tell))
	if err != nil {
		return err
	}
	defer language.Close()
	q := generate.Request{Prompt: ids, Most: o.tokens, Sampling: o.sampling}
	if tok != nil && !o.ignoreEnd {
		q.Ends = tok.Ends()
	}
	w := newTextWriter(stdout, tok, ids, o.output.json())
	times, err := language.Generate(ctx, q, func(token int) error {
		begun = true
		stop()
		return w.add(token)
	})
	if err != nil {
		return err
	}
	g := generationOf(text, w, times, language)
	if g.Memory, err = memoryOf(ctx, language, &p.work, &g, tell); err != nil {
		return err
	}
	if o.perLayer {
		if g.Phases, err = phasesOf(ctx, language, p.work.Backend.Info().Estimated); err != nil {
			return err
		}
	}
	if o.output.json() {
		return writeReport(stdout, sessions.NewRunner(m, p.work, nil).Head(&cfg), g)
	}
	writeGeneration(stdout, &g)
	return nil
}

// learned is what a text has told of a model before engines are built of it, or of networks made of it.
type learned struct {
	rounded   build.Rounded // the integers of weights; nil where they are the nearest
	collected dataset.Data  // what ranges are found of; nil where none are asked for
}

// calibrated returns what the text of --calib-data, or the file of --ranges, tells of the model.
func (o *generateFlags) calibrated(ctx context.Context, p *place, cfg config.Config, tell func(report.Progress)) (k learned, err error) {
	ranges := cfg.Precision == config.INT8 && !p.model.Quantized
	if file := o.config.quantization.file; ranges && file != nil {
		k.collected = file.CollectedData()
	} else if ranges && o.data.calData == "" {
		return k, usageError{errors.New("--precision int8: the model brings no quantisation: name a text by --calib-data, or a file of trtui calibrate by --ranges")}
	}
	if o.data.calData == "" || k.collected != nil && cfg.Weights == "" {
		return k, nil
	}
	work := p.work
	if _, work.CalData, err = o.data.open(p.model, false, nil); err != nil {
		return k, err
	}
	if cfg.Shapes, err = p.model.DataShapes(work.CalData); err != nil {
		return k, err
	}
	r := sessions.NewRunner(p.model, work, tell)
	defer r.Close()
	if ranges && k.collected == nil {
		found, err := r.Calibration(ctx, cfg)
		if err != nil {
			return k, err
		}
		k.collected = found.CollectedData()
	}
	if cfg.Weights != "" {
		k.rounded, err = sessions.Rounded(ctx, r, cfg)
	}
	return k, err
}

// workshop is a place without data: what a language model reads is its prompt.
func (o *generateFlags) workshop(m *model.Model) (*place, error) {
	w := stages.Workplace{Program: programName(), Peaks: o.device.peaks()}
	w.Cache, w.SaveTo, w.CacheError = o.device.timingCache()
	var err error
	p := &place{model: m, crowded: o.device.crowded()}
	w.Backend, w.Host, p.close, err = o.device.openWithHost()
	p.work = w
	return p, err
}

// languageBuilder builds engines of the model, or of a network made of it, as a configuration says, by what is known of it. The
// place's data is not for them: they have shapes of their own.
func languageBuilder(p *place, cfg config.Config, k learned, tell func(report.Progress)) generate.Builder {
	work := p.work
	work.Data, work.CalData, work.Rounded = nil, k.collected, k.rounded
	if k.collected != nil {
		weights := cfg.Quantization.Rounding
		if cfg.Quantization = cfg.Quantization.ByCollected(); k.rounded != nil {
			cfg.Quantization.Rounding = weights
		}
	}
	return func(ctx context.Context, n *graph.Network, shapes map[string][]int) (*run.Engine, error) {
		m := *p.model
		m.Network = n
		shaped := cfg.Clone()
		shaped.Batch, shaped.Shapes = 1, shapes
		maps.DeleteFunc(shaped.Quantization.Ranges, func(name string, _ []float64) bool { return n.Tensor(name) == nil })
		shaped.MinShapes, shaped.MaxShapes, shaped.Profiles = nil, nil, nil
		r := sessions.NewRunner(&m, work, tell)
		defer r.Close() // what it loads to compile the engine's code
		return r.Engine(ctx, shaped, false)
	}
}

// generationOf sums up what a language model wrote.
func generationOf(prompt string, w *textWriter, t *generate.Times, m *generate.Model) report.Generation {
	g := report.Generation{Prompt: prompt, Text: w.text(), PromptTokens: t.Prompt, Tokens: w.ids[t.Prompt:], Ended: t.Ended, Cached: m.Cached(), First: t.First}
	if name, others := m.Logits(); others > 0 {
		g.Scores = name
	}
	if t.First > 0 {
		g.PromptRate = float64(t.Prompt) / t.First.Seconds()
	}
	if behind := t.Tokens[min(1, len(t.Tokens)):]; len(behind) > 0 {
		g.PerToken = describe.LatencyOf(behind)
		g.Rate = g.PerToken.Rate(1)
	}
	return g
}

// memoryOf says what a token takes of memory, where a device computes in the memory of this machine and is timed, beside the peak that
// layers stand under, which is measured now if it is not known.
func memoryOf(ctx context.Context, m *generate.Model, w *stages.Workplace, g *report.Generation, tell func(report.Progress)) (*report.TokenMemory, error) {
	t, device := m.Traffic(), w.Backend.Info()
	if device.Estimated || device.Threads == 0 || t.Bytes() == 0 || g.PerToken.Count == 0 || w.Peaks == nil {
		return nil, nil
	}
	peaks, err := w.Peaks.Of(ctx, w.Backend, func() { tell(report.Progress{Phase: "measuring peaks"}) })
	if len(peaks) == 0 {
		return nil, err
	}
	level := peaks[len(peaks)-1].Level(t.Bytes()) // that the peaks could not be kept is said where layers are timed
	return &report.TokenMemory{Weights: t.Weights, State: t.State, Rate: float64(t.Bytes()) / g.PerToken.Median.Seconds(),
		Peak: level.Rate, Level: level.Name}, nil
}

// writeGeneration prints the figures below the text.
func writeGeneration(w io.Writer, g *report.Generation) {
	how := "the whole text again for each token"
	if g.Cached {
		how = "earlier tokens kept"
	}
	if g.Scores != "" {
		how += "; scores by output " + config.Quoted(g.Scores)
	}
	fmt.Fprintf(w, "\n\nprompt %s, first token after %s ms (%.0f tokens/s); %s\n", count(g.PromptTokens, "token"), ms(g.First), g.PromptRate, how)
	if g.PerToken.Count > 0 {
		fmt.Fprintf(w, "%s, %.1f tokens/s at the median time, per token p50 %s ms, p99 %s ms; ended by %s\n", count(len(g.Tokens), "new token"), g.Rate, ms(g.PerToken.Median), ms(g.PerToken.P99), g.Ended)
	}
	if m := g.Memory; m != nil {
		fmt.Fprintf(w, "a token reads %s of weights and %s of state: %s, %.0f%% of the peak of %s, %s\n", ui.Bytes(m.Weights), ui.Bytes(m.State),
			ui.Quantity(m.Rate, "B/s"), 100*m.OfPeak(), m.Level, ui.Quantity(m.Peak, "B/s"))
	}
	writePhases(w, g.Phases)
}

// textWriter shows a text as it grows: what is whole of it, since a letter may be several tokens.
type textWriter struct {
	out    *bufio.Writer
	tok    *tokenizer.Tokenizer
	ids    []int
	prompt int
	shown  string
	quiet  bool
}

func newTextWriter(w io.Writer, tok *tokenizer.Tokenizer, prompt []int, quiet bool) *textWriter {
	return &textWriter{out: bufio.NewWriter(w), tok: tok, ids: append([]int{}, prompt...), prompt: len(prompt), quiet: quiet}
}

// text returns the prompt as the tokenizer has it and what was written behind it; of tokens alone, nothing.
func (w *textWriter) text() string {
	if w.tok == nil {
		return ""
	}
	return w.tok.Decode(w.ids)
}

func (w *textWriter) add(token int) error {
	w.ids = append(w.ids, token)
	if w.quiet {
		return nil
	}
	if w.tok == nil {
		w.out.WriteString(strconv.Itoa(token) + " ")
		return w.out.Flush()
	}
	now := w.text()
	whole := strings.TrimRight(now, string(utf8.RuneError))
	if rest, ok := strings.CutPrefix(whole, w.shown); ok {
		w.out.WriteString(ui.Visible(rest)) // a tokenizer may have tokens that act on a terminal
		w.shown = whole
	}
	return w.out.Flush()
}
