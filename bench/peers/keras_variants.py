"""Exports small transformers of random weights, written in Keras and in TensorFlow, by tf2onnx: with fixed and open axes.

    pip install tensorflow-cpu tf2onnx
    python bench/peers/keras_variants.py /tmp/keras
    TRTUI_VARIANTS=/tmp/keras go test ./core/graph/passes -run TestVariants
"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import onnx
import tensorflow as tf
import tf2onnx
from tensorflow import keras

LAYERS, WIDTH, HEADS, GROUPS, VOCABULARY = 2, 64, 4, 2, 100
BATCH, LENGTH = 2, 12
OPSETS = 13, 18
layers = keras.layers


def layer_norm(x):
    return layers.LayerNormalization(epsilon=1e-6)(x)


def rms_norm(x):
    return layers.RMSNormalization(epsilon=1e-6)(x)


def erf_gelu(x):  # of which tf2onnx knows no erfc
    return 0.5 * x * (1 + tf.math.erf(x / tf.sqrt(2.0)))


def feed_forward(x, activation):
    return layers.Dense(WIDTH)(layers.Dense(4 * WIDTH, activation=activation)(x))


def gated(x):
    gate = layers.Dense(3 * WIDTH, use_bias=False, activation="silu")(x)
    return layers.Dense(WIDTH, use_bias=False)(gate * layers.Dense(3 * WIDTH, use_bias=False)(x))


def attend(x, **options):
    return layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(x, x, **options)


def rotated(x):
    """Turns [batch, length, heads, size] by its places, in halves."""
    size = x.shape[-1]
    inverse = 1 / 10000 ** (tf.range(0, size, 2, dtype=tf.float32) / size)
    angle = tf.einsum("i,j->ij", tf.cast(tf.range(tf.shape(x)[1]), tf.float32), inverse)
    angle = tf.concat([angle, angle], -1)[None, :, None, :]
    a, b = tf.split(x, 2, axis=-1)
    return x * tf.cos(angle) + tf.concat([-b, a], -1) * tf.sin(angle)


class Attention(layers.Layer):
    """Attention as it is written by hand."""

    def __init__(self, groups=HEADS, rotary=False, causal=False):
        super().__init__()
        self.groups, self.size, self.rotary, self.causal = groups, WIDTH // HEADS, rotary, causal
        dense = lambda width: layers.Dense(width, use_bias=not rotary)
        self.q, self.k, self.v, self.out = dense(WIDTH), dense(groups * self.size), dense(groups * self.size), dense(WIDTH)

    def call(self, x, seen=None):
        batch, length = tf.shape(x)[0], tf.shape(x)[1]
        q = tf.reshape(self.q(x), [batch, length, HEADS, self.size])
        k, v = (tf.reshape(p(x), [batch, length, self.groups, self.size]) for p in (self.k, self.v))
        if self.rotary:
            q, k = rotated(q), rotated(k)
        if self.groups < HEADS:
            k, v = (tf.repeat(t, HEADS // self.groups, axis=2) for t in (k, v))
        q, k, v = (tf.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
        scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(self.size))
        if self.causal:
            scores = tf.where(tf.linalg.band_part(tf.ones([length, length]), -1, 0)[None, None] > 0, scores, -1e9)
        if seen is not None:
            scores += (1 - tf.cast(seen, tf.float32))[:, None, None, :] * -1e9
        y = tf.matmul(tf.nn.softmax(scores), v)
        return self.out(tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [batch, length, WIDTH]))


def ids():
    return keras.Input((None,), dtype="int32", name="ids")


def words(x):
    return layers.Embedding(VOCABULARY, WIDTH)(x)


def keras_bert():
    given = ids()
    x = layer_norm(words(given))
    for _ in range(LAYERS):
        x = layer_norm(x + attend(x))
        x = layer_norm(x + feed_forward(x, erf_gelu))
    return keras.Model(given, x)


def bert():
    given, seen = ids(), keras.Input((None,), dtype="int32", name="seen")
    x = layer_norm(words(given))
    for _ in range(LAYERS):
        x = layer_norm(x + Attention()(x, seen=seen))
        x = layer_norm(x + feed_forward(x, lambda h: tf.nn.gelu(h, approximate=True)))
    return keras.Model([given, seen], x)


def keras_gpt():
    given = ids()
    x = words(given)
    for _ in range(LAYERS):
        x += attend(layer_norm(x), use_causal_mask=True)
        x += feed_forward(layer_norm(x), erf_gelu)
    return keras.Model(given, layers.Dense(VOCABULARY)(layer_norm(x)))


def keras_grouped():
    given = ids()
    x = words(given)
    for _ in range(LAYERS):
        a = rms_norm(x)
        x += layers.GroupQueryAttention(WIDTH // HEADS, HEADS, GROUPS)(a, a, use_causal_mask=True)
        x += feed_forward(rms_norm(x), "silu")
    return keras.Model(given, x)


def llama():
    given = ids()
    x = words(given)
    for _ in range(LAYERS):
        x += Attention(GROUPS, rotary=True, causal=True)(rms_norm(x))
        x += gated(rms_norm(x))
    return keras.Model(given, layers.Dense(VOCABULARY)(rms_norm(x)))


def keras_vit():
    image = keras.Input((32, 32, 3), name="image")
    x = layers.Reshape((16, WIDTH))(layers.Conv2D(WIDTH, 8, 8)(image))
    for _ in range(LAYERS):
        x += attend(layer_norm(x))
        x += feed_forward(layer_norm(x), erf_gelu)
    return keras.Model(image, layers.Dense(10)(layers.GlobalAveragePooling1D()(layer_norm(x))))


def export(model, path, is_open, opset):
    spec = []
    for x in model.inputs:
        dims = list(x.shape) if is_open else [BATCH, *(LENGTH if d is None else d for d in x.shape[1:])]
        spec.append(tf.TensorSpec(dims, x.dtype, name=x.name))
    run = tf.function(lambda *given: model(list(given) if len(given) > 1 else given[0]), input_signature=spec)
    onnx.save(tf2onnx.convert.from_function(run, input_signature=spec, opset=opset)[0], path)


def main():
    keras.utils.set_random_seed(1)
    for make in (keras_bert, bert, keras_gpt, keras_grouped, llama, keras_vit):
        folder = pathlib.Path(sys.argv[1]) / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        model = make()
        for w in model.weights:
            if len(w.shape) == 1:  # scales and biases that are no longer ones and zeros
                w.assign(w + tf.random.normal(w.shape, stddev=0.1))
        for is_open in (False, True):
            for opset in OPSETS:
                path = folder / f"{'open' if is_open else 'fixed'}-opset{opset}.onnx"
                export(model, path, is_open, opset)
                print(path, flush=True)


if __name__ == "__main__":
    main()
