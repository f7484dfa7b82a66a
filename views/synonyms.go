package views

// synonyms are words that people look for in the palette, two of them as one, and those that screens, keys and commands have for the same.
var synonyms = map[string][]string{
	"speedup": {"faster"}, "speed": {"faster", "latency"}, "quicker": {"faster"}, "gain": {"faster"}, "ratio": {"faster"}, "regressed": {"slower"},
	"versus": {"compare"}, "vs": {"compare"}, "significance": {"significant"}, "jitter": {"noise"},
	"fps": {"throughput"}, "qps": {"throughput"}, "ips": {"throughput"}, "device": {"overview"}, "backend": {"overview"}, "gpu": {"overview"},
	"rerun": {"measure"}, "remeasure": {"measure"}, "retime": {"measure"}, "benchmark": {"bench", "measure"},
	"bandwidth": {"roofline"}, "flops": {"roofline"}, "intensity": {"roofline"}, "perfetto": {"trace"}, "timeline": {"lanes"},
	"quantize": {"quantised", "quantise"}, "quantized": {"quantised"}, "quantization": {"quantised"}, "quantisation": {"quantised"},
	"equalize": {"equalise"}, "color": {"colour"}, "colors": {"theme"}, "colours": {"theme"}, "half": {"fp16"}, "float16": {"fp16"}, "mixedprecision": {"precision"},
	"netron": {"onnx"}, "topology": {"network"}, "architecture": {"network"}, "operators": {"nodes"}, "explain": {"why"}, "reason": {"why"},
	"suggestions": {"advice"}, "recommendations": {"advice"}, "tips": {"advice"}, "confusion": {"predictions"}, "heatmap": {"map"},
	"footprint": {"memory"}, "vram": {"memory"}, "oom": {"memory"}, "threads": {"contexts"}, "concurrency": {"contexts"},
	"open": {"show"}, "load": {"show"}, "goto": {"show"}, "find": {"filter"}, "grep": {"filter"}, "clipboard": {"copy"}, "yank": {"copy"},
	"revert": {"undo"}, "exit": {"quit"}, "leave": {"quit"}, "close": {"quit"},
	"keys": {"help"}, "shortcuts": {"help"}, "hotkeys": {"help"}, "bindings": {"help"}, "manual": {"help"}, "tour": {"help"},
	"preferences": {"set"}, "settings": {"set"}, "options": {"set"}, "report": {"html"}, "json": {"export"},
}
