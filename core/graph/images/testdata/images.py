"""Images in many forms with the pixels that Pillow has of them: images.json. Needs numpy and Pillow."""
import base64
import io
import json
import zlib

import numpy as np
from PIL import Image

rng = np.random.default_rng(7)
cases = []


def picture(rows, columns):
    """Squares, a gradient and noise: edges and what lies between them."""
    y, x = np.mgrid[0:rows, 0:columns]
    colours = rng.integers(0, 256, (rows // 5 + 1, columns // 5 + 1, 3))
    squares = colours[y // 5, x // 5]
    gradient = np.stack([x * 255 // max(1, columns - 1), y * 255 // max(1, rows - 1), (x + y) * 3 % 256], -1)
    noise = rng.integers(-20, 20, (rows, columns, 3))
    return np.clip((squares + gradient) // 2 + noise, 0, 255).astype(np.uint8)


def add(name, data, image=None):
    image = image or Image.open(io.BytesIO(data))
    rgb = np.array(image.convert("RGB"))
    encode = lambda b: base64.b64encode(b).decode()
    cases.append({"Name": name, "File": encode(data), "Rows": rgb.shape[0], "Columns": rgb.shape[1], "RGB": encode(zlib.compress(rgb.tobytes(), 9))})


def save(name, image, form, **how):
    f = io.BytesIO()
    image.save(f, form, **how)
    add(name, f.getvalue())


def jpegs():
    for rows, columns in [(1, 1), (3, 2), (8, 8), (17, 33), (40, 37)]:
        p = Image.fromarray(picture(rows, columns))
        for subsampling in ["4:4:4", "4:2:2", "4:2:0"]:
            for progressive in [False, True]:
                save(f"jpeg_{rows}x{columns}_{subsampling}_{progressive}", p, "JPEG", subsampling=subsampling, progressive=progressive, quality=80)
    p = Image.fromarray(picture(29, 50))
    save("jpeg_grey", p.convert("L"), "JPEG")
    save("jpeg_grey_progressive", p.convert("L"), "JPEG", progressive=True)
    save("jpeg_inks", p.convert("CMYK"), "JPEG")
    save("jpeg_rgb", p, "JPEG", keep_rgb=True)
    save("jpeg_coarse", p, "JPEG", quality=3)
    save("jpeg_fine", p, "JPEG", quality=100, optimize=True)
    save("jpeg_restarts", p, "JPEG", restart_marker_blocks=3)
    save("jpeg_restarts_progressive", p, "JPEG", restart_marker_blocks=2, progressive=True)


def sampled():
    """A JPEG's colours with half of the rows, and a quarter of the columns: as another's of the same units, whose heads differ."""
    for h, v, rows, columns in [(1, 2, 33, 21), (1, 2, 16, 2), (4, 1, 16, 61), (2, 1, 9, 3)]:
        f = io.BytesIO()
        Image.fromarray(picture(rows, columns)).save(f, "JPEG", subsampling="4:2:0" if h * v == 4 else "4:2:2")
        b = bytearray(f.getvalue())
        at = b.index(b"\xff\xc0") + 11  # samples of the first component
        b[at] = h << 4 | v
        try:
            add(f"jpeg_{rows}x{columns}_{h}x{v}", bytes(b))
        except OSError:
            pass


def others():
    p = Image.fromarray(picture(23, 31))
    clear = Image.fromarray(np.dstack([picture(23, 31), rng.integers(0, 256, (23, 31), dtype=np.uint8)]))
    grey, bits = p.convert("L"), p.convert("1")
    for name, image in [("rgb", p), ("grey", grey), ("clear", clear), ("bits", bits), ("palette", p.quantize(20))]:
        save(f"png_{name}", image, "PNG")
    for name, image in [("rgb", p), ("grey", grey), ("bits", bits), ("palette", p.quantize(200))]:
        save(f"bmp_{name}", image, "BMP")
    for name, image in [("rgb", p), ("grey", grey), ("palette", p.quantize(200))]:
        for compression in ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"]:
            save(f"tiff_{name}_{compression}", image, "TIFF", compression=compression)
    save("tiff_bits", bits, "TIFF")
    for compression in ["group3", "group4"]:
        for white in [0, 1]:
            save(f"tiff_{compression}_{white}", bits, "TIFF", compression=compression, tiffinfo={262: white})
    for rows, columns in [(1, 1), (2, 3), (33, 16), (23, 31)]:
        q = Image.fromarray(picture(rows, columns))
        save(f"webp_{rows}x{columns}", q, "WEBP", quality=70)
        save(f"webp_exact_{rows}x{columns}", q, "WEBP", lossless=True)
    save("webp_exact_clear", clear, "WEBP", lossless=True, exact=True)
    save("webp_clear", clear, "WEBP", quality=90)
    save("ppm", p, "PPM")
    save("pgm", grey, "PPM")
    save("pbm", bits, "PPM")
    words = lambda a: " ".join(str(v) for v in np.array(a, dtype=np.int32).reshape(-1))
    add("plain_ppm", f"P3\n# a comment\n31 23 # another\n255\n{words(p)}\n".encode())
    add("plain_pgm", f"P2 31 23 255\n{words(grey)}".encode())
    add("plain_pbm", ("P1\n31 23\n" + "".join(str(1 - int(v)) for v in np.array(bits).reshape(-1))).encode())
    add("ppm_of_7", b"P6 31 23 7\n" + (np.array(p) // 32).tobytes())
    add("ppm_of_words", b"P6 31 23 65535\n" + (np.array(p).astype(">u2") * 257).tobytes())


jpegs()
sampled()
others()
print(json.dumps(cases, indent=0))
