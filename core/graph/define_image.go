package graph

// ImageDecoder decodes the image of whose file x are the bytes, U8 [N], to U8 [rows, columns, channels]; see [ImageDecoderAttrs].
func (d *Definition) ImageDecoder(x *Tensor, a ImageDecoderAttrs) *Tensor {
	if a.Rows == "" || a.Columns == "" {
		a.Rows, a.Columns = imageSymbols(d.layerName(ImageDecoder))
	}
	return d.Layers(ImageDecoder, a, 3, x)[0]
}
