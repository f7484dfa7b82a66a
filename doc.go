// Package trtui is an inference engine in a library: it opens a network, builds it for a device and a precision, and runs
// it. The whole of it in ten lines:
//
//	net, err := trtui.Open("resnet50.onnx")                 // or trtui.Define, layer by layer
//	eng, err := trtui.Build(ctx, net, trtui.Options{        // optimised, calibrated, quantised, tuned, laid out
//		Precision:   trtui.INT8,
//		Calibration: trtui.Batches(batches...),
//	})
//	defer eng.Close()
//	s, err := eng.NewSession(trtui.SessionOptions{Threads: 1})
//	defer s.Close()
//	out, err := s.Run(ctx, trtui.Inputs{"image": trtui.ValueOf(pixels, 1, 3, 224, 224)})
//	fmt.Println(out["probabilities"].F32())
//
// A [Network] is what is to be computed. [Build] makes an [Engine] of it: a plan for one device, one precision and one set of
// input shapes, or one for each [Profile] of ranges, with the weights packed. Engines are written with [Engine.WriteTo] and opened with [OpenEngine]. A
// [Session] is one user of an engine: it has memory of its own and, if asked for, threads of its own, so that sessions run
// side by side; they share the engine's weights.
//
// Nothing here is a program of its own: the packages below core and kernels are public too, and the names of this package
// stand for theirs. Look there for single passes (core/graph/pass), calibrators (core/quant), stages (core/build), plans
// and profiles (core/run), and devices (kernels/cpu, kernels/cuda). What a program adds to the engine's own, ops, kernels,
// passes and calibrators, is handed in: to [Open], [Define] and [OpenEngine], and in [Options].
package trtui
