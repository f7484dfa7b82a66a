package model

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// foreign is a kind of file that people take for a model that can be opened, and what to do with it instead.
type foreign struct{ kind, instead string }

// Foreign is the error that a file is no model but of another kind.
type Foreign struct {
	Path, Kind string
	Use        FileUse
	instead    string // what to do with it
}

// FileUse says what the program does take a file for that is no model.
type FileUse uint8

const (
	NoUse FileUse = iota
	AsData
	AsRecording
	AsConfig
)

func (f *Foreign) Error() string {
	return fmt.Sprintf("%s is %s, not an ONNX model or an engine: %s", f.Path, f.Kind, f.instead)
}

// error returns the error that the file at path is one of these.
func (f foreign) error(path string) error {
	return &Foreign{path, f.kind, map[string]FileUse{asRecording: AsRecording, asData: AsData, asConfig: AsConfig}[f.instead], f.instead}
}

const (
	exportTorch    = "export it with torch.onnx.export"
	convertKeras   = "convert it with tf2onnx (python -m tf2onnx.convert --keras)"
	convertTensor  = "convert it with tf2onnx (python -m tf2onnx.convert)"
	weightsAlone   = "it has weights but no graph; export the model that they belong to as ONNX"
	exportOpenVINO = "it is made of an ONNX or another model: open that one"
	fetchAgain     = "the file itself was not fetched: git lfs pull"
	rebuildEngine  = "it runs on TensorRT alone: open the ONNX model that it was built from"
	unpack         = "unpack it and open the model that is in it"
	asRecording    = "if it is a recording, it is opened as one"
	asData         = "it holds data to run a model on"
	writtenInFull  = "it may not have been written to its end"
	asConfig       = "if it is a saved configuration, it is used with a model"
)

// foreignOf tells a file of another tool, or of ours that is no model, by its first bytes, and of an archive by the names in
// it; ok is false where it is none that is known.
func foreignOf(path string, head []byte, size int64) (f foreign, ok bool) {
	starts := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	text := strings.TrimLeft(string(head), "\xef\xbb\xbf \t\r\n")
	switch {
	case size == 0:
		return foreign{"an empty file", writtenInFull}, true
	case len(head) >= 8 && string(head[4:8]) == "TFL3":
		return foreign{"a TensorFlow Lite model", "convert it with tf2onnx (python -m tf2onnx.convert --tflite)"}, true
	case starts("\x89HDF\r\n\x1a\n"):
		return foreign{"a Keras HDF5 model", convertKeras}, true
	case starts("PK\x03\x04"):
		return foreignArchive(path), true
	case starts("\x80\x02\x8a\nl\xfc\x9cF\xf9"): // the magic number of torch.save before 1.6
		return foreign{"a PyTorch file", exportTorch}, true
	case starts("\x80") && len(head) > 1 && head[1] >= 2 && head[1] <= 5:
		return foreign{"a Python pickle", exportTorch + ", if it is a model of PyTorch"}, true
	case starts("GGUF"):
		return foreign{"a GGUF model of llama.cpp", "export the model that it was made of as ONNX"}, true
	case starts("ftrt"), starts("ptrt"):
		return foreign{"an engine of TensorRT", rebuildEngine}, true
	case starts("SQLite format 3\x00"):
		return foreign{"a recording, or another SQLite database", asRecording}, true
	case starts("\x93NUMPY"):
		return foreign{"an array of NumPy", asData}, true
	case starts("\x1f\x8b"):
		return foreign{"a gzip archive", unpack}, true
	case strings.HasPrefix(text, "version https://git-lfs"):
		return foreign{"a pointer of Git LFS", fetchAgain}, true
	case strings.HasPrefix(text, "<?xml") || strings.HasPrefix(text, "<net"):
		return foreign{"XML, perhaps a model of OpenVINO", exportOpenVINO}, true
	case strings.HasPrefix(text, "<"):
		return foreign{"a web page", "what was to be fetched was not: look at the address"}, true
	case strings.HasPrefix(text, "{"):
		return foreign{"JSON", asConfig}, true
	case len(head) > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) < uint64(size):
		return foreign{"a file of safetensors", weightsAlone}, true
	case len(head) > 2 && head[0] == 0x0a && (strings.HasSuffix(path, ".pb") || bytes.Contains(head, []byte("Const"))):
		return foreign{"a TensorFlow graph", convertTensor + " with --graphdef"}, true
	case len(head) > 2 && head[0] == 0x08 && head[1] == 1 && head[2] == 0x12: // schema version 1, then a graph
		return foreign{"a TensorFlow SavedModel", convertTensor + " with --saved-model and its folder"}, true
	}
	return foreign{}, false
}

// foreignArchive tells a zip archive by its members.
func foreignArchive(path string) foreign {
	z, err := zip.OpenReader(path)
	if err != nil {
		return foreign{"a damaged zip archive", writtenInFull}
	}
	defer z.Close()
	has := func(part string) bool {
		for _, f := range z.File[:min(len(z.File), 10000)] {
			if strings.Contains("/"+f.Name, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("/constants.pkl"):
		return foreign{"a TorchScript model", exportTorch}
	case has("/models/model.json") || has("/archive_format"):
		return foreign{"a program of torch.export", exportTorch}
	case has("/data.pkl"):
		return foreign{"a PyTorch file", exportTorch}
	case has("/model.weights.h5"):
		return foreign{"a Keras model", convertKeras}
	case has(".npy"):
		return foreign{"arrays of NumPy", asData}
	}
	return foreign{"a zip archive", unpack}
}
