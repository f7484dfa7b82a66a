package sessions

// Calibrate asks for the report of calibration, from now on with every configuration. A model that brings its own
// quantisation has none otherwise: nothing but that report needs its activations.
func (s *Session) Calibrate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked && s.stages.model.Quantized {
		s.asked, s.todo.retime = true, s.snap.Retiming // which goes on
		s.interrupt()
	}
}

// calibrates reports whether the report of calibration is made.
func (s *Session) calibrates() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stages.CalData != nil && !s.stages.model.Stripped && (s.asked || !s.stages.model.Quantized)
}
