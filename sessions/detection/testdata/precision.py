"""Random images with boxes and what COCO's own evaluation says of them: python precision.py >precision.json (pip install pycocotools)."""

import contextlib
import io
import json
import random

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

r = random.Random(7)


def box():
    return [r.randrange(0, 200), r.randrange(0, 200), r.randrange(4, 90), r.randrange(4, 90)]


def case(images, classes, crowds, many):
    annotations, found = [], []
    for image in range(images):
        there = [(r.randrange(classes), box(), r.random() < crowds) for _ in range(r.randrange(0, 7))]
        for c, b, crowd in there:
            annotations.append({"id": len(annotations) + 1, "image_id": image, "category_id": c + 1, "bbox": b, "area": b[2] * b[3], "iscrowd": int(crowd)})
            for _ in range(r.randrange(0, 4)):  # near it, some as near as another
                moved = [v + r.choice((0, 0, 1, -1, 3, -4)) for v in b]
                found.append({"image_id": image, "category_id": (c if r.random() < 0.9 else r.randrange(classes)) + 1, "bbox": [*moved[:2], *(max(1, v) for v in moved[2:])], "score": r.randrange(1, 100) / 100})
        for _ in range(r.randrange(0, many)):
            found.append({"image_id": image, "category_id": r.randrange(classes + 1) + 1, "bbox": box(), "score": r.randrange(1, 60) / 100})
    return {"images": images, "classes": classes + 1, "there": annotations, "found": found}


def evaluated(c):
    truth = COCO()
    truth.dataset = {"images": [{"id": i} for i in range(c["images"])], "categories": [{"id": k + 1} for k in range(c["classes"])], "annotations": c["there"]}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        e = COCOeval(truth, truth.loadRes([dict(f) for f in c["found"]]), "bbox")
        e.evaluate()
        e.accumulate()
        e.summarize()
    return {"mean": e.stats[0], "at50": e.stats[1], "at75": e.stats[2]}


def rows(c):
    there = [[a["image_id"], a["category_id"] - 1, *a["bbox"], a["iscrowd"]] for a in c["there"]]
    found = [[f["image_id"], f["category_id"] - 1, *f["bbox"], f["score"]] for f in c["found"]]
    return {"images": c["images"], "there": there, "found": found, **evaluated(c)}


cases = [case(1, 1, 0, 2), case(6, 1, 0, 4), case(12, 3, 0, 6), case(12, 3, 0.3, 6), case(3, 2, 0.2, 400), case(30, 5, 0.1, 10)]
print("[" + ",\n".join(json.dumps(rows(c), separators=(",", ":")) for c in cases) + "]")
