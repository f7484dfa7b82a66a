package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDetection finds the faces of two photographs where ONNX Runtime and the decoding of YuNet's authors find them.
func TestDetection(t *testing.T) {
	root := os.Getenv("TRTUI_DATA")
	model := filepath.Join(root, "models", "yunet-face", "yunet_n_320_320.onnx")
	if _, err := os.Stat(model); err != nil || root == "" {
		t.Skip("TRTUI_DATA names no folder with the models")
	}
	const text = `{"images": [{"id": 1, "file_name": "face.jpg"}, {"id": 2, "file_name": "grace_hopper.png"}, {"id": 3, "file_name": "zebra.jpg"}], "categories": [{"id": 5}],
 "annotations": [{"image_id": 1, "category_id": 5, "bbox": [256.7, 48.2, 92.9, 123.0]}, {"image_id": 2, "category_id": 5, "bbox": [174.8, 121.0, 179.6, 218.1]}]}`
	labels := filepath.Join(t.TempDir(), "faces.json")
	if err := os.WriteFile(labels, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"eval", model, "--data", filepath.Join(root, "eval", "images_permissive"), "--labels", labels, "--scale", "1", "--channel-order", "bgr",
		"--precision", "fp32", "-q"}
	out, _ := command(t, 0, append(args, "--format", "json")...)
	var got struct {
		Rows []struct {
			Agreement *float64 `json:"agreement"`
			Task      struct{ Metric string }
			Detection struct {
				Form  string
				Map   float64 `json:"map_share"`
				Map50 float64 `json:"map50_share"`
				Boxes int
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if r := got.Rows[0]; r.Task.Metric != "mAP" || r.Detection.Form != "yunet" || r.Detection.Boxes != 2 || r.Detection.Map50 != 1 || r.Detection.Map < 0.99 || r.Agreement != nil {
		t.Errorf("%+v", r)
	}
	for task, want := range map[string]string{
		"detection:yolov8":  "want one output [batch, 4 + classes, boxes]",
		"detection:yolov99": `no form of boxes is called "yolov99"`,
		"poses":             "want auto, classes, detection[:FORM] or outputs",
	} {
		var errOut strings.Builder
		if code := executeOn(t.Context(), quick, append(args, "--task", task), &strings.Builder{}, &errOut); code == 0 || !strings.Contains(errOut.String(), want) {
			t.Errorf("--task %s: exit code %d, %s", task, code, &errOut)
		}
	}
}
